// GET /admin/accounts: finds an account by whatever names it; who waits for the Developer plan; all accounts.
// GET /admin/accounts/:account: one of them with all that it has, and what the operator can do with it.
import type { Api } from "../../api/fastify.ts";
import { upgradeRequests } from "../../commands/account/tier.ts";
import { TIERS, type Tier } from "../../events/vocabulary.ts";
import type { AccountDetails, AccountRow } from "../../queries/accounts.ts";
import { ACCOUNT_NAMES, questions } from "../../queries/audit/questions.ts";
import { ownerEmail } from "../../queries/people.ts";
import {
  type Resting,
  type RestingWebhook,
  restingReceivers,
} from "../../webhooks/owner-tools/resting-receiver.ts";
import { counted, outward, statusBadge } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { type Html, html } from "../shell/html.ts";
import {
  badge,
  type Card,
  type Cards,
  type Columns,
  confirmed,
  confirmedPost,
  copyable,
  facts,
  postButton,
  time,
} from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import { accountPath, eventsPath, rowsCard, streamPath, textLink } from "./answer-cells.ts";
import { questionPage, sendConsolePage } from "./question-page.ts";

export function accountPages(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/accounts", questions.accounts, {
    nav: "Accounts",
    lead: `Found by ${ACCOUNT_NAMES}. E-mail addresses are in no event: they are read from the secrets.`,
    find: "Find",
    async show(answer, { find }) {
      const { accounts = [] } = answer ?? {};
      if (find !== undefined && accounts[0]) return accountPath(accounts[0].account_id);
      const waiting = rowsCard("Waiting for the Developer plan", WAITING, await waitingForPlan(deps));
      if (find !== undefined) return [waiting];
      const none = "They appear here once somebody has signed up.";
      const all = rowsCard<AccountRow>("Accounts, newest first", ACCOUNTS, accounts, none);
      return deps.signIn.includes("password") ? [waiting, all, invitation(deps.defaultTier)] : [waiting, all];
    },
  });

  const { args: params, answer } = questions["accounts/:account"];
  app.get("/accounts/:account", { schema: { params } }, async ({ params: named }, reply) => {
    const account = await answer(deps, named);
    const { account_id: id, email, status, tier, opened_at } = account;
    const isOpen = status === "open";
    const about = facts({
      State: stateBadge(account),
      Opened: time(opened_at),
      Tier: tier,
      Id: copyable("account-id", id, "the account's id"),
    });
    return sendConsolePage(reply, {
      nav: "Accounts",
      title: email ?? id,
      heading: html`<span class="break">${email ?? id}</span>`,
      above: html`<a href="/admin/accounts">Accounts</a>`,
      actions: html`<a class="button" href="${eventsPath({ account: id })}">Events</a><a class="button" href="${streamPath(`account-${id}`)}">Stream</a>`,
      cards: [
        { title: "Account", body: html`${about}${isOpen && tierForms(account)}` },
        ...partsOf(account, await restingReceivers(deps, id)),
        isOpen && closing(account),
      ],
    });
  });
}

async function waitingForPlan(deps: ConsoleDeps) {
  const requests = await upgradeRequests(deps);
  return await Promise.all(
    requests.map(async (upgrade) => ({
      ...upgrade,
      email: await ownerEmail(deps, upgrade.accountId),
    })),
  );
}

const WAITING: Columns<Awaited<ReturnType<typeof waitingForPlan>>[number]> = {
  Account: ({ accountId, email }) => accountLink(accountId, email),
  Asked: "at",
  Actions: ({ accountId }) => approval(accountId),
};

const ACCOUNTS: Columns<AccountRow> = {
  Account: ({ account_id, email }) => accountLink(account_id, email),
  Tier: "tier",
  State: stateBadge,
  Links: "links",
  Opened: "opened_at",
};

/** A link with which somebody opens an account, also where sign-up is closed. */
function invitation(tier: Tier): Card {
  const options = TIERS.map((name) => [name, name === "free" ? "Free" : "Developer"] as const);
  const email = { label: "E-mail address", type: "email", required: true, maxlength: 254 } as const;
  const fields = { email: { ...email, autocomplete: "off" }, tier: { label: "Plan", options } };
  const form = { action: "/admin/accounts/invite", fields, values: { tier }, button: "Make the link" };
  return {
    title: "Invite somebody",
    lead: "Makes a link with which they choose a password, once, within a week. The account is opened then.",
    form: { ...form, isRow: true },
  };
}

function accountLink(accountId: string, email: unknown): Html {
  return textLink(accountPath(accountId), html`<strong>${String(email ?? accountId)}</strong>`);
}

/** Grants the plan that the account asked for. */
function approval(accountId: string): Html {
  const fields = { act: "tier", tier: "developer" };
  return postButton(accountPath(accountId), "Approve the Developer plan", { fields, kind: "primary" });
}

function stateBadge({ status }: Pick<AccountRow, "status">): Html {
  return status === "open" ? badge("good", "Open") : badge("bad", "Closed");
}

function tierForms({ account_id: id, tier, upgrade_asked_at: requestedAt }: AccountDetails): Html {
  if (requestedAt !== null)
    return html`<p>Asked for the Developer plan ${time(requestedAt)}.</p>${approval(id)}`;
  const other = tier === "free" ? "developer" : "free";
  const effect =
    other === "free"
      ? "Links and keys stay; webhooks are no longer sent, and what the Free plan lacks is refused."
      : "Custom domains and slugs, webhooks, bulk creation and more requests, from now on.";
  const fields = { act: "tier", tier: other };
  const form = postButton(accountPath(id), "Change the tier", { fields, kind: "primary" });
  return html`<div>${confirmed(`Change the tier to ${other}`, html`<p>${effect}</p>`, form)}</div>`;
}

/** Links, keys, domains and webhooks: a card each. */
function partsOf(account: AccountDetails, failing: readonly RestingWebhook[]): Cards {
  const { account_id: id, links, newest_links, keys, domains } = account;
  const resting = new Map(failing.map(({ webhook, ...rest }) => [webhook._id, rest]));
  const webhooks = account.webhooks.map((hook) => ({ ...hook, resting: resting.get(hook.webhook_id) }));
  const path = address("/admin/streams", { category: "link", account: id });
  const all = html`<p><a href="${path}">All ${counted(links, "link")}</a></p>`;
  return [
    rowsCard("The newest links", LINKS, newest_links, "None.", all),
    rowsCard("API keys, newest first", keyColumns(id), keys.toReversed(), "None."),
    rowsCard("Domains", DOMAINS, domains, "None."),
    rowsCard("Webhooks", WEBHOOKS, webhooks, "None."),
    rowsCard("Shared pages", SHARED_PAGES, account.shared_pages, "None."),
    rowsCard("Weekly mails", { Name: "name", Begun: "begun_at" }, account.weekly_mails, "None."),
  ];
}

const LINKS: Columns<AccountDetails["newest_links"][number]> = {
  "Short link": ({ link, short_url }) => textLink(streamPath(`link-${link}`), short_url),
  Destination: ({ long_url }) => outward(long_url),
  State: ({ status }) => statusBadge(status) || "live",
  Made: "created_at",
};

function keyColumns(account: string): Columns<AccountDetails["keys"][number]> {
  return {
    Label: ({ key_id, label }) => textLink(eventsPath({ actor: `key:${key_id}` }), label || "No label"),
    Key: ({ hint }) => html`<code>…${hint}</code>`,
    State: "status",
    Issued: "issued_at",
    "Last used": "last_used_at",
    Actions({ key_id, label, hint, status }) {
      const effect = html`Programs that use <strong>${label || `…${hint}`}</strong> are refused at once. This can't be undone.`;
      const fields = { act: "deactivate-key", key_id };
      return (
        status === "active" &&
        confirmedPost("Deactivate", effect, accountPath(account), "Deactivate key", fields)
      );
    },
  };
}

const DOMAINS: Columns<AccountDetails["domains"][number]> = {
  Domain: ({ hostname }) => textLink(streamPath(`domain-${hostname}`), hostname),
  State: ({ state, active }) => (state === "verified" ? (active ? "active" : "not active") : "not verified"),
  Added: "added_at",
  Verified: "verified_at",
};

type Webhook = AccountDetails["webhooks"][number] & { resting: Resting | undefined };

const WEBHOOKS: Columns<Webhook> = {
  Receiver: ({ host, label }) =>
    html`<strong class="break">${label || host}</strong> ${label && html`<span class="muted small break">${host}</span>`}`,
  State: ({ status, paused_by, reason, resting }) =>
    resting
      ? html`has failed since ${time(resting.since)}, rests until about ${time(resting.until)}`
      : status === "paused"
        ? html`paused by ${paused_by}${reason && html`: <span class="break">${reason}</span>`}`
        : status,
  "Told of": ({ events, kinds }) =>
    html`${events.join(", ")} <span class="muted small">${kinds.join(", ")}</span>`,
  Added: "added_at",
};

function closing({ account_id: id, email }: AccountDetails): Card {
  const label = `Type the account's ${email === null ? "id" : "e-mail address"}`;
  const fields = { confirm: { label, autocomplete: "off", required: true, maxlength: 500 } };
  const form = { action: accountPath(id), hidden: { act: "close" }, fields, isRow: true };
  return {
    title: "Close account",
    lead: "Its keys stop at once, its links no longer redirect and are deleted, its domains and webhooks are removed, and its e-mail address is erased. This can't be undone.",
    kind: "danger",
    form: { ...form, button: "Close this account for good", buttonKind: "danger" },
  };
}

const SHARED_PAGES: Columns<AccountDetails["shared_pages"][number]> = {
  Name: "name",
  Password: ({ has_password }) => (has_password ? "yes" : "no"),
  Made: "made_at",
  Ends: "ends_at",
};
