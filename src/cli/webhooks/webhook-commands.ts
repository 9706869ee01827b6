// linkledger webhook add | change | list | show | pause | resume | rotate | remove

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
import { webhookRow } from "../../queries/account-rows.ts";
import { listWebhooks, showWebhook } from "../../queries/webhooks.ts";
import { type CommandRow, option, required } from "../command.ts";
import { ACCOUNT, accountNamed, WEBHOOK, webhookNamed } from "../named.ts";
import type { Printable } from "../output.ts";
import { runQuery, type Session } from "../session.ts";
import { webhookDeliveryRows } from "./webhook-delivery-commands.ts";

type Settings = { url?: string; kinds?: string[]; label?: string };

const KINDS = `kinds of hit it is sent, comma separated, of ${CLICK_KINDS.join(",")}`;
const ofAccount = required("--account <account>", ACCOUNT);
const label = option("--label <label>", "to tell webhooks apart");

export const webhookCommands: readonly CommandRow[] = [
  {
    name: "add",
    about: "add a webhook; its key is shown this once only",
    options: [
      ofAccount,
      required("--url <url>", "where link.clicked is sent"),
      option("--kinds <list>", `${KINDS}; ${WEBHOOK_DEFAULT_KINDS.join(",")} by default`, commaSeparated),
      label,
    ],
    async run(session, { account, ...settings }: Settings & { account: string; url: string }) {
      const { deps, context } = session;
      const accountId = await accountNamed(session, account);
      const { webhookId, key } = await addWebhook(deps, context, accountId, settings);
      return { webhook_id: webhookId, key };
    },
  },
  changing(
    "change",
    "change a webhook's URL, kinds or label; what is not given stays",
    async ({ deps, context }, accountId, webhookId, options) => {
      const { url, kinds, label } = await changeWebhook(deps, context, accountId, webhookId, options);
      return { url, kinds, label };
    },
    [
      option("--url <url>", "where link.clicked is sent"),
      option("--kinds <list>", KINDS, commaSeparated),
      label,
    ],
  ),
  {
    name: "list",
    about: "the webhooks of an account",
    options: [ofAccount],
    by: runQuery,
    async run(session, { account }: { account: string }) {
      const found = await listWebhooks(session.deps, await accountNamed(session, account));
      return { webhooks: found.map(webhookRow) };
    },
  },
  {
    name: "show <webhook>",
    about: "one webhook with its settings and state",
    args: { webhook: WEBHOOK },
    by: runQuery,
    async run(session, _: object, given: string) {
      const { _id } = await webhookNamed(session, given);
      return webhookRow(await showWebhook(session.deps, _id));
    },
  },
  changing(
    "pause",
    "send nothing more to a webhook until it is resumed",
    async ({ deps, context }, accountId, webhookId, options) => {
      await pauseWebhook(deps, context, accountId, webhookId, options);
      return { status: "paused" };
    },
    [option("--reason <text>", "why, as its owner will read it")],
  ),
  changing("resume", "send to a paused webhook again", async ({ deps, context }, accountId, webhookId) => {
    await resumeWebhook(deps, context, accountId, webhookId);
    return { status: "active" };
  }),
  changing(
    "rotate",
    "give a webhook a new key, shown this once; the old one signs along for 24 hours",
    async ({ deps, context }, accountId, webhookId) => {
      const { key, previousUntil } = await rotateWebhookKey(deps, context, accountId, webhookId);
      return { key, previous_key_until: previousUntil };
    },
  ),
  changing(
    "remove",
    "remove a webhook and destroy its key",
    async ({ deps, context }, accountId, webhookId) => {
      await removeWebhook(deps, context, accountId, webhookId);
      return { status: "removed" };
    },
  ),
  ...webhookDeliveryRows,
];

/** `change` returns what is printed below the webhook's id. */
function changing(
  name: string,
  about: string,
  change: (
    session: Session,
    accountId: string,
    webhookId: string,
    options: Settings & { reason?: string },
  ) => Promise<Printable>,
  options: CommandRow["options"] = [],
): CommandRow {
  return {
    name: `${name} <webhook>`,
    about,
    args: { webhook: WEBHOOK },
    options,
    async run(session, chosen: Settings & { reason?: string }, given: string) {
      const { _id, accountId } = await webhookNamed(session, given);
      return { webhook_id: _id, ...(await change(session, accountId, _id, chosen)) };
    },
  };
}
