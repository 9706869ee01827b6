// Gives a webhook a new key; for a day deliveries are signed with the old one too, so that receivers can follow.
import type { Position } from "../event-store/port.ts";
import { onAccount } from "./account-stream.ts";
import type { CommandContext } from "./caller.ts";
import { CommandRefused } from "./errors.ts";
import type { CommandDeps } from "./handle-command.ts";
import { rotateKey } from "./webhook.ts";
import { RotationUnderWay } from "./webhook-errors.ts";
import {
  forgetWebhookKeys,
  keepWebhookKeys,
  keyHintOf,
  newWebhookKey,
  readWebhookKeys,
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
/** A rotation that a crash cut off blocks the next one for this long. */
const LONGEST_ROTATION_MS = 30_000;

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
  return await alone(deps, webhookId, async () => {
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
      await keepWebhookKeys(deps.secrets, webhookId, { key, previous });
    }
    return { webhookId, key, previousUntil, position };
  });
}

/** One rotation of a webhook at a time, over all processes: two would leave one of them with a key that isn't. */
async function alone<T>(deps: RotateWebhookKeyDeps, webhookId: string, rotate: () => Promise<T>): Promise<T> {
  const lock = `webhook-rotation:${webhookId}`;
  const mine = deps.newId();
  const now = deps.clock();
  const expiresAt = new Date(now.getTime() + LONGEST_ROTATION_MS).toISOString();
  const holder = await deps.secrets.putIfAbsent(lock, { value: mine, expiresAt }, now);
  if (holder !== mine) throw new RotationUnderWay();
  try {
    return await rotate();
  } finally {
    await deps.secrets.delete(lock);
  }
}
