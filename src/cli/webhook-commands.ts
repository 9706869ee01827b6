// linkledger webhook add | change | list | show | pause | resume | rotate | remove
import type { Command } from "commander";
import { addWebhook } from "../commands/webhooks/add-webhook.ts";
import { changeWebhook } from "../commands/webhooks/change-webhook.ts";
import { removeWebhook } from "../commands/webhooks/remove-webhook.ts";
import { rotateWebhookKey } from "../commands/webhooks/rotate-webhook-key.ts";
import { pauseWebhook, resumeWebhook } from "../commands/webhooks/webhook-pause.ts";
import { commaSeparated } from "../config/formats.ts";
import { CLICK_KINDS, WEBHOOK_DEFAULT_KINDS } from "../events/vocabulary.ts";
import { webhookRow } from "../queries/account-rows.ts";
import { showAccount } from "../queries/accounts.ts";
import { accountOfWebhook, listWebhooks, showWebhook } from "../queries/webhooks.ts";
import type { Printable } from "./output.ts";
import { type Json, runCommand, runQuery, type Session } from "./session.ts";
import { webhookDeliveryCommands } from "./webhook-delivery-commands.ts";

type Settings = { url?: string; kinds?: string[]; label?: string };

const KINDS = `kinds of click it is sent, comma separated, of ${CLICK_KINDS.join(",")}`;

export function webhookCommands(program: Command): void {
  const webhook = program.command("webhook").description("webhooks: link.clicked sent to an endpoint");

  webhook
    .command("add")
    .description("add a webhook; its key is shown this once only")
    .requiredOption("--account <account-id>")
    .requiredOption("--url <url>", "where link.clicked is sent")
    .option("--kinds <list>", `${KINDS}; ${WEBHOOK_DEFAULT_KINDS.join(",")} by default`, commaSeparated)
    .option("--label <label>", "to tell webhooks apart")
    .option("--json", "print one JSON document")
    .action((options: Json & { account: string; url: string; kinds?: string[]; label?: string }) =>
      runCommand(options, async ({ deps, context }) => {
        const { webhookId, key } = await addWebhook(deps, context, options.account, options);
        return { webhook_id: webhookId, key };
      }),
    );

  onWebhook<Settings>(
    webhook
      .command("change")
      .description("change a webhook's URL, kinds or label; what is not given stays")
      .option("--url <url>", "where link.clicked is sent")
      .option("--kinds <list>", KINDS, commaSeparated)
      .option("--label <label>", "to tell webhooks apart"),
    async ({ deps, context }, accountId, webhookId, options) => {
      const { url, kinds, label } = await changeWebhook(deps, context, accountId, webhookId, options);
      return { url, kinds, label };
    },
  );

  webhook
    .command("list")
    .description("the webhooks of an account")
    .requiredOption("--account <account-id>")
    .option("--json", "print one JSON document")
    .action((options: Json & { account: string }) =>
      runQuery(options, async ({ deps }) => {
        await showAccount(deps, options.account);
        return { webhooks: (await listWebhooks(deps, options.account)).map(webhookRow) };
      }),
    );

  webhook
    .command("show")
    .description("one webhook with its settings and state")
    .argument("<webhook-id>")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json) =>
      runQuery(options, async ({ deps }) => webhookRow(await showWebhook(deps, webhookId))),
    );

  onWebhook<{ reason?: string }>(
    webhook
      .command("pause")
      .description("send nothing more to a webhook until it is resumed")
      .option("--reason <text>", "why, as its owner will read it"),
    async ({ deps, context }, accountId, webhookId, options) => {
      await pauseWebhook(deps, context, accountId, webhookId, options);
      return { status: "paused" };
    },
  );
  onWebhook(
    webhook.command("resume").description("send to a paused webhook again"),
    async ({ deps, context }, accountId, webhookId) => {
      await resumeWebhook(deps, context, accountId, webhookId);
      return { status: "active" };
    },
  );
  onWebhook(
    webhook
      .command("rotate")
      .description("give a webhook a new key, shown this once; the old one signs along for 24 hours"),
    async ({ deps, context }, accountId, webhookId) => {
      const { key, previousUntil } = await rotateWebhookKey(deps, context, accountId, webhookId);
      return { key, previous_key_until: previousUntil };
    },
  );
  onWebhook(
    webhook.command("remove").description("remove a webhook and destroy its key"),
    async ({ deps, context }, accountId, webhookId) => {
      await removeWebhook(deps, context, accountId, webhookId);
      return { status: "removed" };
    },
  );
  webhookDeliveryCommands(webhook);
}

/** Completes a command that changes one webhook; `change` returns what is printed below the webhook's id. */
function onWebhook<Options = object>(
  command: Command,
  change: (session: Session, accountId: string, webhookId: string, options: Options) => Promise<Printable>,
): void {
  command
    .argument("<webhook-id>")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json & Options) =>
      runCommand(options, async (session) => {
        const accountId = await accountOfWebhook(session.deps, webhookId);
        return { webhook_id: webhookId, ...(await change(session, accountId, webhookId, options)) };
      }),
    );
}
