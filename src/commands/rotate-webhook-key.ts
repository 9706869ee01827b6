// Gives a webhook a new key; for a day deliveries are signed with the old one too, so that receivers can follow.
import type { Position } from "../event-store/port.ts";
import { onAccount } from "./account-stream.ts";
import type { CommandContext } from "./caller.ts";
import type { CommandDeps } from "./handle-command.ts";
import { rotateKey } from "./webhook.ts";
import { RotationUnderWay } from "./webhook-errors.ts";
import {
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
  /** ISO 8601 UTC. */
  previousUntil: string;
  position: Position | undefined;
};

const PREVIOUS_LIVES_MS = 24 * 60 * 60 * 1000;
/** A rotation that a crash cut off blocks the next one for this long. */
const LONGEST_ROTATION_MS = 30_000;

/**
 * The event first: whoever is cut off between the two has seen no key, and the one in use goes on.
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
    const previousUntil = new Date(now.getTime() + PREVIOUS_LIVES_MS).toISOString();
    const key = newWebhookKey(deps);
    const rotation = { webhookId, keyHint: keyHintOf(key), previousUntil, at: now.toISOString() };
    const { position } = await onAccount(deps, context, accountId, (account) => rotateKey(account, rotation));
    const before = await readWebhookKeys(deps.secrets, webhookId, now);
    const previous = before ? { previous: { key: before.key, until: previousUntil } } : {};
    await keepWebhookKeys(deps.secrets, webhookId, { key, ...previous });
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
