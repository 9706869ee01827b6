// Pauses and resumes a webhook. Its owner and the operator do both; the delivery worker pauses one that keeps failing.
import { cleanText } from "../../classification/clean-text.ts";
import type { Actor, Position } from "../../event-store/port.ts";
import type { WebhookPauseCause, WebhookPauser } from "../../events/vocabulary.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { pause, resume } from "./webhook.ts";

const MAX_REASON_LENGTH = 200;

/**
 * Nothing is sent to it until it is resumed. `isNew`: false when it was paused already.
 * @throws account_not_found, webhook_not_found
 */
export async function pauseWebhook(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
  request: { reason?: string | undefined; cause?: WebhookPauseCause | undefined } = {},
): Promise<{ isNew: boolean; position: Position | undefined }> {
  const by = pauserOf(context.actor);
  const reason = cleanText(request.reason?.trim() ?? "", MAX_REASON_LENGTH) || undefined;
  const at = deps.clock().toISOString();
  const { cause } = request;
  const { events, position } = await onAccount(deps, context, accountId, (account) =>
    pause(account, { webhookId, by, reason, cause, at }),
  );
  return { isNew: events.length > 0, position };
}

/**
 * Clicks recorded while it was paused are sent only by a replay.
 * @throws account_not_found, tier_required, webhook_not_found, webhook_held, history_full
 */
export async function resumeWebhook(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<{ position: Position | undefined }> {
  const by = pauserOf(context.actor);
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    resume(account, { webhookId, by, at }),
  );
  return { position };
}

function pauserOf({ type }: Actor): WebhookPauser {
  return type === "operator" || type === "system" ? type : "user";
}
