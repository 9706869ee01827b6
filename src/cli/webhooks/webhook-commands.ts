// linkledger webhook add | change | list | show | pause | resume | rotate | remove; what was sent is beside it
import { rotateWebhookKey } from "../../commands/webhooks/webhook-key.ts";
import {
  addWebhook,
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../commands/webhooks/webhooks.ts";
import { commaSeparated } from "../../config/formats.ts";
import { CLICK_KINDS, WEBHOOK_DEFAULT_KINDS } from "../../events/vocabulary.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { listWebhooks, showWebhook, webhookRow } from "../../queries/webhooks.ts";
import { type CommandRow, option, required } from "../command.ts";
import { WEBHOOK } from "../named.ts";
import { runQuery, type Session } from "../session.ts";
import { webhookDeliveryRows } from "./webhook-delivery-commands.ts";

type Settings = { url?: string; kinds?: string[]; label?: string };

const KINDS = `kinds of hit it is sent, comma separated, of ${CLICK_KINDS.join(",")}`;
const args = { webhook: WEBHOOK };
const label = option("--label <label>", "to tell webhooks apart");

export const commands: readonly CommandRow[] = [
  {
    name: "add",
    about: "add a webhook; its key is shown this once only",
    byAccount: true,
    options: [
      required("--url <url>", "where link.clicked is sent"),
      option("--kinds <list>", `${KINDS}; ${WEBHOOK_DEFAULT_KINDS.join(",")} by default`, commaSeparated),
      label,
    ],
    async run({ deps, context }, options: Settings & { account: string; url: string }) {
      const { account, ...settings } = options;
      const { webhookId, key } = await addWebhook(deps, context, account, settings);
      return { webhook_id: webhookId, key };
    },
  },
  {
    name: "change <webhook>",
    about: "change a webhook's URL, kinds or label; what is not given stays",
    args,
    options: [
      option("--url <url>", "where link.clicked is sent"),
      option("--kinds <list>", KINDS, commaSeparated),
      label,
    ],
    async run({ deps, context }, settings: Settings, { _id, accountId }: WebhookDocument) {
      const { url, kinds, label } = await changeWebhook(deps, context, accountId, _id, settings);
      return { webhook_id: _id, url, kinds, label };
    },
  },
  {
    name: "list",
    about: "the webhooks of an account",
    byAccount: true,
    by: runQuery,
    async run({ deps }, { account }: { account: string }) {
      return { webhooks: (await listWebhooks(deps, account)).map(webhookRow) };
    },
  },
  {
    name: "show <webhook>",
    about: "one webhook with its settings and state",
    args,
    by: runQuery,
    async run({ deps }, _: object, { _id }: WebhookDocument) {
      return webhookRow(await showWebhook(deps, _id));
    },
  },
  {
    ...changing("pause", "send nothing more to a webhook until it is resumed", "paused", pauseWebhook),
    options: [option("--reason <text>", "why, as its owner will read it")],
  },
  changing("resume", "send to a paused webhook again", "active", resumeWebhook),
  {
    name: "rotate <webhook>",
    about: "give a webhook a new key, shown this once; the old one signs along for 24 hours",
    args,
    async run({ deps, context }, _: object, { _id, accountId }: WebhookDocument) {
      const { key, previousUntil } = await rotateWebhookKey(deps, context, accountId, _id);
      return { webhook_id: _id, key, previous_key_until: previousUntil };
    },
  },
  changing("remove", "remove a webhook and destroy its key", "removed", removeWebhook),
  ...webhookDeliveryRows,
];

type Change = (
  deps: Session["deps"],
  context: Session["context"],
  accountId: string,
  webhookId: string,
  options: { reason?: string },
) => Promise<unknown>;

function changing(name: string, about: string, status: string, change: Change): CommandRow {
  return {
    ...{ name: `${name} <webhook>`, about, args },
    async run({ deps, context }, options: { reason?: string }, { _id, accountId }: WebhookDocument) {
      await change(deps, context, accountId, _id, options);
      return { webhook_id: _id, status };
    },
  };
}
