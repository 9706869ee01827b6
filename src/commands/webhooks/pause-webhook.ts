// Pauses a webhook: nothing is sent to it until it is resumed. Asked by people, and by the worker after long failure.
import type { Actor, Position } from "../../event-store/port.ts";
import type { WebhookPauseCause, WebhookPauser } from "../../events/vocabulary.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { pause } from "./webhook.ts";

const MAX_REASON_LENGTH = 200;

/** `isNew`: false when it was paused already. @throws AccountNotFound, WebhookNotFound */
export async function pauseWebhook(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
  request: { reason?: string | undefined; cause?: WebhookPauseCause | undefined } = {},
): Promise<{ webhookId: string; isNew: boolean; position: Position | undefined }> {
  const by = pauserOf(context.actor);
  const reason = request.reason?.trim().slice(0, MAX_REASON_LENGTH) || undefined;
  const at = deps.clock().toISOString();
  const { cause } = request;
  const { events, position } = await onAccount(deps, context, accountId, (account) =>
    pause(account, { webhookId, by, reason, cause, at }),
  );
  return { webhookId, isNew: events.length > 0, position };
}

/** In whose name a webhook is paused or resumed. */
export function pauserOf({ type }: Actor): WebhookPauser {
  return type === "operator" || type === "system" ? type : "user";
}
