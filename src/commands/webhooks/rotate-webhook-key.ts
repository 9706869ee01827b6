// Rotates a webhook's key; for 24 hours deliveries are also signed with the previous one, so that receivers can switch
// over.
import type { Position } from "../../event-store/port.ts";
import { isClientError, Refused } from "../../runtime/refused.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import { withLock } from "../credentials/secrets-lock.ts";
import type { CommandDeps } from "../handle-command.ts";
import { rotateKey } from "./webhook.ts";
import {
  forgetWebhookKeys,
  keepWebhookKeys,
  keyHintOf,
  newWebhookKey,
  readWebhookKeys,
  replaceWebhookKeys,
  type WebhookKeyDeps,
} from "./webhook-key.ts";

export type RotateWebhookKeyDeps = CommandDeps & WebhookKeyDeps;

export type RotatedWebhookKey = {
  webhookId: string;
  key: string;
  /** ISO 8601 UTC; the time of the rotation when there was no previous key. */
  previousUntil: string;
  position: Position | undefined;
};

const PREVIOUS_KEY_VALID_MS = 24 * 60 * 60 * 1000;

/**
 * The event is appended before the key is replaced: after a crash in between, the caller has not seen the new key and the
 * current one stays in use. Without a current key the new one is stored first, because the event resumes the webhook.
 * @throws account_not_found, webhook_not_found, rotation_under_way, history_full
 */
export async function rotateWebhookKey(
  deps: RotateWebhookKeyDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<RotatedWebhookKey> {
  // Of two concurrent rotations, one caller would be shown a key that is not in use.
  const lock = `webhook-rotation:${webhookId}`;
  return await withLock(
    deps,
    lock,
    () => new Refused("rotation_under_way"),
    async () => {
      const now = deps.clock();
      const key = newWebhookKey(deps);
      const current = await readWebhookKeys(deps.secrets, webhookId, now);
      const until = current ? new Date(now.getTime() + PREVIOUS_KEY_VALID_MS) : now;
      const [at, previousUntil] = [now.toISOString(), until.toISOString()];
      if (!current) await keepWebhookKeys(deps.secrets, webhookId, { key });
      const { position } = await onAccount(deps, context, accountId, (account) =>
        rotateKey(account, { webhookId, keyHint: keyHintOf(key), previousUntil, at }),
      ).catch(async (error: unknown) => {
        if (!current && isClientError(error)) await forgetWebhookKeys(deps.secrets, webhookId);
        throw error;
      });
      if (current) {
        const previous = { key: current.key, until: previousUntil };
        const isThere = await replaceWebhookKeys(deps.secrets, webhookId, { key, previous }, now);
        // The webhook was removed since the event; its deleted keys must not be written again.
        if (!isThere) throw new Refused("webhook_not_found");
      }
      return { webhookId, key, previousUntil, position };
    },
  );
}
