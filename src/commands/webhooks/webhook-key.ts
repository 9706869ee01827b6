// A webhook's key `whk_<32 random characters>` (interface, part 2) and key pair, and their rotation. Each delivery sends the
// key, so a hash is not enough; both are stored as a secret.

import type { Secrets } from "../../stores/secrets/port.ts";
import { SecretDamaged } from "../../stores/secrets/port.ts";
import { changeAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { isClientError, Refused } from "../refusals.ts";
import { withLock } from "../with-lock.ts";
import { rotateKey } from "./decide-webhook.ts";
import { publicKeyOf, type SecretsInUse, type SigningSecrets } from "./signing-key.ts";

/** `previous`: those before the last rotation; deliveries are also signed with them until `until` (ISO 8601 UTC). */
type WebhookKeys = SigningSecrets & { previous?: SigningSecrets & { until: string } };

/** `randomKey`: 32 characters of [A-Za-z0-9] from a CSPRNG. */
export type WebhookKeyDeps = { secrets: Secrets; randomKey: () => string };

/** `previousUntil`: ISO 8601 UTC; the time of the rotation when there was no previous key. */
type RotatedWebhookKey = Appended & {
  webhookId: string;
  key: string;
  publicKey: string;
  previousUntil: string;
};

/** So that receivers can switch over. */
const PREVIOUS_KEY_VALID_MS = 24 * 60 * 60 * 1000;

/** `keyHint`: the last four characters, shown so that people can distinguish keys. */
export function newWebhookKey({ randomKey }: WebhookKeyDeps) {
  const [key, seed] = [`whk_${randomKey()}`, randomKey()];
  return { secrets: { key, seed }, keyHint: key.slice(-4), publicKey: publicKeyOf(seed) };
}

/** The secret that holds a webhook's keys. */
export function webhookSecret(webhookId: string): string {
  return `webhook:${webhookId}`;
}

/** Keys that can't be decrypted count as missing. */
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

/** What to sign a delivery with: the current secrets, and within their validity the previous ones. */
export async function keysInUse(
  secrets: Secrets,
  webhookId: string,
  now: Date,
  onDamaged?: (error: SecretDamaged) => void,
): Promise<SecretsInUse | undefined> {
  const keys = await readWebhookKeys(secrets, webhookId, now, onDamaged);
  if (!keys) return undefined;
  const { key, seed, previous } = keys;
  const isInUse = previous !== undefined && previous.until > now.toISOString();
  return [{ key, seed }, ...(isInUse ? [{ key: previous.key, seed: previous.seed }] : [])];
}

export async function keepWebhookKeys(secrets: Secrets, webhookId: string, keys: WebhookKeys): Promise<void> {
  await secrets.put(webhookSecret(webhookId), { value: keys });
}

export async function forgetWebhookKeys(secrets: Secrets, webhookId: string): Promise<void> {
  await secrets.delete(webhookSecret(webhookId));
}

/**
 * For 24 hours deliveries are also signed with the previous key. Of two concurrent rotations, one caller would be shown a
 * key that is not in use, so only one runs at a time.
 * @throws account_not_found, webhook_not_found, rotation_under_way, history_full
 */
export async function rotateWebhookKey(
  deps: CommandDeps & WebhookKeyDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<RotatedWebhookKey> {
  const rotate = () => replaceKey(deps, context, accountId, webhookId);
  return await withLock(deps, `webhook-rotation:${webhookId}`, "rotation_under_way", rotate);
}

/**
 * The event is appended before the key is replaced: after a crash in between, the caller has not seen the new key and the
 * current one stays in use. Without a current key the new one is stored first, because the event resumes the webhook.
 */
async function replaceKey(
  deps: CommandDeps & WebhookKeyDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<RotatedWebhookKey> {
  const { secrets } = deps;
  const now = deps.clock();
  const { secrets: fresh, keyHint, publicKey } = newWebhookKey(deps);
  const current = await readWebhookKeys(secrets, webhookId, now);
  const previousUntil = new Date(now.getTime() + (current ? PREVIOUS_KEY_VALID_MS : 0)).toISOString();
  if (!current) await keepWebhookKeys(secrets, webhookId, fresh);
  const { position } = await changeAccount(deps, context, accountId, (account, at) =>
    rotateKey(account, { webhookId, keyHint, publicKey, previousUntil, at }),
  ).catch(async (error: unknown) => {
    if (!current && isClientError(error)) await forgetWebhookKeys(secrets, webhookId);
    throw error;
  });
  if (current) {
    const { key, seed } = current;
    const value: WebhookKeys = { ...fresh, previous: { key, seed, until: previousUntil } };
    // Without keys the webhook was removed since the event; its deleted keys must not be written again.
    if (!(await secrets.putIfPresent(webhookSecret(webhookId), { value }, now)))
      throw new Refused("webhook_not_found");
  }
  return { webhookId, key: fresh.key, publicKey, previousUntil, position };
}
