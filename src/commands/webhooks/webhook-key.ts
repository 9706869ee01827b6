// A webhook's key `whk_<32 random characters>` (interface, part 2): each delivery sends it, so a hash is not enough;
// stored as a secret.
import { SecretDamaged } from "../../secrets/errors.ts";
import type { Secrets } from "../../secrets/port.ts";

/** `previous`: the key before the last rotation; deliveries are also signed with it until `until` (ISO 8601 UTC). */
export type WebhookKeys = { key: string; previous?: { key: string; until: string } };

/** `randomKey`: 32 characters of [A-Za-z0-9] from a CSPRNG. */
export type WebhookKeyDeps = { secrets: Secrets; randomKey: () => string };

export function newWebhookKey({ randomKey }: WebhookKeyDeps): string {
  return `whk_${randomKey()}`;
}

/** The last four characters, shown so that people can distinguish keys. */
export function keyHintOf(key: string): string {
  return key.slice(-4);
}

/** Secret that holds a webhook's keys. */
export function webhookSecret(webhookId: string): string {
  return `webhook:${webhookId}`;
}

/** Keys that can't be decrypted count as missing; the error is passed to `onDamaged`. */
export async function readWebhookKeys(
  secrets: Secrets,
  webhookId: string,
  now: Date,
  onDamaged: (error: SecretDamaged) => void = () => undefined,
): Promise<WebhookKeys | undefined> {
  try {
    return (await secrets.get(webhookSecret(webhookId), now)) as WebhookKeys | undefined;
  } catch (error) {
    if (!(error instanceof SecretDamaged)) throw error;
    onDamaged(error);
    return undefined;
  }
}

/** The keys to sign a delivery with: the current one, and within its validity the previous one. */
export async function keysInUse(
  secrets: Secrets,
  webhookId: string,
  now: Date,
  onDamaged?: (error: SecretDamaged) => void,
): Promise<{ key: string; previousKey?: string } | undefined> {
  const keys = await readWebhookKeys(secrets, webhookId, now, onDamaged);
  if (!keys) return undefined;
  const { key, previous } = keys;
  const isExpired = previous === undefined || previous.until <= now.toISOString();
  return isExpired ? { key } : { key, previousKey: previous.key };
}

export async function keepWebhookKeys(secrets: Secrets, webhookId: string, keys: WebhookKeys): Promise<void> {
  await secrets.put(webhookSecret(webhookId), { value: keys });
}

/** False when there are no keys to replace: a removal has deleted them. */
export async function replaceWebhookKeys(
  secrets: Secrets,
  webhookId: string,
  keys: WebhookKeys,
  now: Date,
): Promise<boolean> {
  return await secrets.putIfPresent(webhookSecret(webhookId), { value: keys }, now);
}

export async function forgetWebhookKeys(secrets: Secrets, webhookId: string): Promise<void> {
  await secrets.delete(webhookSecret(webhookId));
}
