// linkledger webhook add | change | list | show | pause | resume | rotate | remove
import type { Command } from "commander";
import { addWebhook } from "../commands/webhooks/add-webhook.ts";
import { changeWebhook } from "../commands/webhooks/change-webhook.ts";
import { removeWebhook } from "../commands/webhooks/remove-webhook.ts";
import { rotateWebhookKey } from "../commands/webhooks/rotate-webhook-key.ts";
import { pauseWebhook, resumeWebhook } from "../commands/webhooks/webhook-pause.ts";
import { CLICK_KINDS, WEBHOOK_DEFAULT_KINDS } from "../events/vocabulary.ts";
import { showAccount } from "../queries/accounts.ts";
import { accountOfWebhook, listWebhooks, showWebhook } from "../queries/webhooks.ts";
import { webhookRow } from "./rows.ts";
import { type Json, runCommand, runQuery } from "./session.ts";
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

  webhook
    .command("change")
    .description("change a webhook's URL, kinds or label; what is not given stays")
    .argument("<webhook-id>")
    .option("--url <url>", "where link.clicked is sent")
    .option("--kinds <list>", KINDS, commaSeparated)
    .option("--label <label>", "to tell webhooks apart")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json & Settings) =>
      runCommand(options, async ({ deps, context }) => {
        const accountId = await accountOfWebhook(deps, webhookId);
        const { url, kinds, label } = await changeWebhook(deps, context, accountId, webhookId, options);
        return { webhook_id: webhookId, url, kinds, label };
      }),
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

  webhook
    .command("pause")
    .description("send nothing more to a webhook until it is resumed")
    .argument("<webhook-id>")
    .option("--reason <text>", "why, as its owner will read it")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json & { reason?: string }) =>
      runCommand(options, async ({ deps, context }) => {
        const accountId = await accountOfWebhook(deps, webhookId);
        await pauseWebhook(deps, context, accountId, webhookId, options);
        return { webhook_id: webhookId, status: "paused" };
      }),
    );

  webhook
    .command("resume")
    .description("send to a paused webhook again")
    .argument("<webhook-id>")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json) =>
      runCommand(options, async ({ deps, context }) => {
        const accountId = await accountOfWebhook(deps, webhookId);
        await resumeWebhook(deps, context, accountId, webhookId);
        return { webhook_id: webhookId, status: "active" };
      }),
    );

  webhook
    .command("rotate")
    .description("give a webhook a new key, shown this once; the old one signs along for 24 hours")
    .argument("<webhook-id>")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json) =>
      runCommand(options, async ({ deps, context }) => {
        const accountId = await accountOfWebhook(deps, webhookId);
        const { key, previousUntil } = await rotateWebhookKey(deps, context, accountId, webhookId);
        return { webhook_id: webhookId, key, previous_key_until: previousUntil };
      }),
    );

  webhook
    .command("remove")
    .description("remove a webhook and destroy its key")
    .argument("<webhook-id>")
    .option("--json", "print one JSON document")
    .action((webhookId: string, options: Json) =>
      runCommand(options, async ({ deps, context }) => {
        const accountId = await accountOfWebhook(deps, webhookId);
        await removeWebhook(deps, context, accountId, webhookId);
        return { webhook_id: webhookId, status: "removed" };
      }),
    );

  webhookDeliveryCommands(webhook);
}

function commaSeparated(given: string): string[] {
  return given
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
