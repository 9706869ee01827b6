// A webhook's key `whk_<32 random characters>` (interface, part 2): sent on each delivery, so kept in clear, as a secret.
import { SecretDamaged } from "../../secrets/errors.ts";
import type { Secrets } from "../../secrets/port.ts";

/** `previous`: the key before, which deliveries are signed with too until then (ISO 8601 UTC). */
export type WebhookKeys = { key: string; previous?: { key: string; until: string } };

/** `randomKey`: 32 characters of [A-Za-z0-9] from a CSPRNG. */
export type WebhookKeyDeps = { secrets: Secrets; randomKey: () => string };

export function newWebhookKey({ randomKey }: WebhookKeyDeps): string {
  return `whk_${randomKey()}`;
}

/** What people tell keys apart by. */
export function keyHintOf(key: string): string {
  return key.slice(-4);
}

/** Where a webhook's keys are kept among the secrets. */
export function webhookSecret(webhookId: string): string {
  return `webhook:${webhookId}`;
}

/** Keys that can't be decrypted are as good as missing; `damaged` is called with why. */
export async function readWebhookKeys(
  secrets: Secrets,
  webhookId: string,
  now: Date,
  damaged: (error: SecretDamaged) => void = () => undefined,
): Promise<WebhookKeys | undefined> {
  try {
    return (await secrets.get(webhookSecret(webhookId), now)) as WebhookKeys | undefined;
  } catch (error) {
    if (!(error instanceof SecretDamaged)) throw error;
    damaged(error);
    return undefined;
  }
}

/** What a delivery is signed with at this moment: the key, and while it is being rotated the one before. */
export async function keysInUse(
  secrets: Secrets,
  webhookId: string,
  now: Date,
  damaged?: (error: SecretDamaged) => void,
): Promise<{ key: string; previousKey?: string } | undefined> {
  const keys = await readWebhookKeys(secrets, webhookId, now, damaged);
  if (!keys) return undefined;
  const { key, previous } = keys;
  const isOver = previous === undefined || previous.until <= now.toISOString();
  return isOver ? { key } : { key, previousKey: previous.key };
}

export async function keepWebhookKeys(secrets: Secrets, webhookId: string, keys: WebhookKeys): Promise<void> {
  await secrets.put(webhookSecret(webhookId), { value: keys });
}

/** Only where there are some, which a removal has not destroyed meanwhile; false when it has. */
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
