// Resumes a paused webhook; clicks of the time between are sent only when a replay is asked for.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { pauserOf } from "./pause-webhook.ts";
import { resume } from "./webhook.ts";

/** @throws AccountNotFound, TierRequired, WebhookNotFound, WebhookHeld */
export async function resumeWebhook(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<{ webhookId: string; position: Position | undefined }> {
  const by = pauserOf(context.actor);
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    resume(account, { webhookId, by, at }),
  );
  return { webhookId, position };
}
