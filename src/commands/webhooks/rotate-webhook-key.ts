// Gives a webhook a new key; for a day deliveries are signed with the old one too, so that receivers can follow.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import { withLock } from "../credentials/secrets-lock.ts";
import { CommandRefused } from "../errors.ts";
import type { CommandDeps } from "../handle-command.ts";
import { rotateKey } from "./webhook.ts";
import { RotationUnderWay, WebhookNotFound } from "./webhook-errors.ts";
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
  /** ISO 8601 UTC; now where there was no key before. */
  previousUntil: string;
  position: Position | undefined;
};

const PREVIOUS_LIVES_MS = 24 * 60 * 60 * 1000;

/**
 * The event first: whoever is cut off between the two has seen no key, and the one in use goes on. Where none is in
 * use the key comes first, as the event resumes the webhook.
 * @throws AccountNotFound, WebhookNotFound, RotationUnderWay
 */
export async function rotateWebhookKey(
  deps: RotateWebhookKeyDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<RotatedWebhookKey> {
  // Two at once would leave one of them with a key that isn't in use.
  const lock = `webhook-rotation:${webhookId}`;
  return await withLock(
    deps,
    lock,
    () => new RotationUnderWay(),
    async () => {
      const now = deps.clock();
      const key = newWebhookKey(deps);
      const before = await readWebhookKeys(deps.secrets, webhookId, now);
      const until = before ? new Date(now.getTime() + PREVIOUS_LIVES_MS) : now;
      const [at, previousUntil] = [now.toISOString(), until.toISOString()];
      if (!before) await keepWebhookKeys(deps.secrets, webhookId, { key });
      const { position } = await onAccount(deps, context, accountId, (account) =>
        rotateKey(account, { webhookId, keyHint: keyHintOf(key), previousUntil, at }),
      ).catch(async (error: unknown) => {
        if (!before && error instanceof CommandRefused) await forgetWebhookKeys(deps.secrets, webhookId);
        throw error;
      });
      if (before) {
        const previous = { key: before.key, until: previousUntil };
        const isThere = await replaceWebhookKeys(deps.secrets, webhookId, { key, previous }, now);
        // Removed since the event: its keys are destroyed, and stay so.
        if (!isThere) throw new WebhookNotFound();
      }
      return { webhookId, key, previousUntil, position };
    },
  );
}
