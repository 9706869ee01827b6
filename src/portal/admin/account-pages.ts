// GET /admin/accounts: finds an account by whatever names it; who waits for the Developer plan; all accounts.
// GET /admin/accounts/:account: one of them with all that it has, and what the operator can do with it.
import type { Api } from "../../api/fastify.ts";
import { emailSecret } from "../../commands/account/secrets.ts";
import { upgradeRequests } from "../../commands/account/tier.ts";
import { TIERS, type Tier } from "../../events/vocabulary.ts";
import type { AccountDetails, AccountRow } from "../../queries/accounts.ts";
import { ACCOUNT_NAMES, questions } from "../../queries/audit/questions.ts";
import { counted, outward, statusBadge } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import {
  type Columns,
  card,
  confirmed,
  confirmedPost,
  copyable,
  facts,
  formCard,
  postButton,
  time,
} from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import { questionPage, sendConsolePage } from "./question-page.ts";
import { accountPath, badge, streamPath, tableCard, textLink } from "./view.ts";

export function accountPages(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/accounts", questions.accounts, {
    find: "Find",
    async show(answer, { find }) {
      const { accounts = [] } = answer ?? {};
      if (find !== undefined && accounts[0]) return accountPath(accounts[0].account_id);
      const waiting = await waitingForPlan(deps);
      return {
        nav: "Accounts",
        title: "Accounts",
        lead: `Found by ${ACCOUNT_NAMES}. E-mail addresses are in no event: they are read from the secrets.`,
        body: html`${waiting.length > 0 && waitingCard(waiting)}${find === undefined && html`${accountsCard(accounts)}${inviteCard(deps.defaultTier)}`}`,
      };
    },
  });

  const { args: params, answer } = questions["accounts/:account"];
  app.get("/accounts/:account", { schema: { params } }, async ({ params: named }, reply) => {
    const account = await answer(deps, named);
    const { account_id: id, email, status, tier, opened_at } = account;
    const isOpen = status === "open";
    const of = facts({
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
      actions: html`<a class="button" href="${address("/admin/events", { account: id })}">Events</a><a class="button" href="${streamPath(`account-${id}`)}">Stream</a>`,
      body: html`${card("Account", html`${of}${isOpen && tierForms(account)}`)}
${parts(account)}${isOpen && closeCard(account)}`,
    });
  });
}

async function waitingForPlan({ secrets, clock }: ConsoleDeps) {
  const requests = await upgradeRequests({ secrets, clock });
  return await Promise.all(
    requests.map(async (upgrade) => ({
      ...upgrade,
      email: await secrets.get(emailSecret(upgrade.accountId), clock()),
    })),
  );
}

function waitingCard(waiting: Awaited<ReturnType<typeof waitingForPlan>>): Html {
  return tableCard("Waiting for the Developer plan", waiting, {
    Account: ({ accountId, email }) => accountLink(accountId, email),
    Asked: "at",
    Actions: ({ accountId }) => approval(accountId),
  });
}

function accountsCard(accounts: readonly AccountRow[]): Html {
  const none = ["No accounts yet", "They appear here once somebody has signed up."] as const;
  const columns: Columns<AccountRow> = {
    Account: ({ account_id, email }) => accountLink(account_id, email),
    Tier: "tier",
    State: stateBadge,
    Links: "links",
    Opened: "opened_at",
  };
  return tableCard("Accounts, newest first", accounts, columns, none);
}

/** A link with which somebody opens an account, also where sign-up is closed. */
function inviteCard(tier: Tier): Html {
  const tiers = TIERS.map((name) => [name, name === "free" ? "Free" : "Developer"] as const);
  return formCard("Invite somebody", {
    action: "/admin/accounts/invite",
    isRow: true,
    button: "Make the link",
    lead: "Makes a link with which they choose a password, once, within a week. The account is opened then.",
    fields: html`${field({ label: "E-mail address", name: "email", type: "email", required: true, maxlength: 254, autocomplete: "off" })}
${field({ label: "Plan", name: "tier", value: tier, options: tiers })}`,
  });
}

function accountLink(accountId: string, email: unknown): Html {
  return html`<a class="break" href="${accountPath(accountId)}"><strong>${String(email ?? accountId)}</strong></a>`;
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
function parts({ account_id: id, links, newest_links, keys, domains, webhooks }: AccountDetails): Html {
  const all = html`<a href="${address("/admin/streams", { category: "link", account: id })}">All ${counted(links, "link")}</a>`;
  const linkColumns: Columns<(typeof newest_links)[number]> = {
    "Short link": ({ link, short_url }) => textLink(streamPath(`link-${link}`), short_url),
    Destination: ({ long_url }) => outward(long_url),
    State: ({ status }) => statusBadge(status),
    Made: "created_at",
  };
  const keyColumns: Columns<Key> = {
    Label: ({ key_id, label }) =>
      textLink(address("/admin/events", { actor: `key:${key_id}` }), label || "No label"),
    Key: ({ hint }) => html`<code>…${hint}</code>`,
    State: "status",
    Issued: "issued_at",
    "Last used": "last_used_at",
    Actions: (key) => key.status === "active" && deactivation(id, key),
  };
  const domainColumns: Columns<(typeof domains)[number]> = {
    Domain: ({ hostname }) => textLink(streamPath(`domain-${hostname}`), hostname),
    State: ({ state, active }) =>
      state === "verified" ? (active ? "active" : "not active") : "not verified",
    Added: "added_at",
    Verified: "verified_at",
  };
  const webhookColumns: Columns<(typeof webhooks)[number]> = {
    Receiver: ({ host, label }) =>
      html`<strong class="break">${label || host}</strong> <span class="muted small break">${host}</span>`,
    State: ({ status, paused_by, reason }) =>
      status === "paused"
        ? html`paused by ${paused_by}${reason && html`: <span class="break">${reason}</span>`}`
        : status,
    "Told of": ({ events, kinds }) =>
      html`${events.join(", ")} <span class="muted small">${kinds.join(", ")}</span>`,
    Added: "added_at",
  };
  return html`${tableCard("The newest links", newest_links, linkColumns, "None.")}${links > 0 && html`<p>${all}</p>`}
${tableCard("API keys, newest first", keys.toReversed(), keyColumns, "None.")}
${tableCard("Domains", domains, domainColumns, "None.")}
${tableCard("Webhooks", webhooks, webhookColumns, "None.")}`;
}

type Key = AccountDetails["keys"][number];

function deactivation(account: string, { key_id, label, hint }: Key): Html {
  const effect = html`Programs that use <strong>${label || `…${hint}`}</strong> are refused at once. This can't be undone.`;
  const fields = { act: "deactivate-key", key_id };
  return confirmedPost("Deactivate", effect, accountPath(account), "Deactivate key", fields);
}

function closeCard({ account_id: id, email }: AccountDetails): Html {
  const label = email === null ? "Type the account's id" : "Type the account's e-mail address";
  return formCard("Close account", {
    kind: "danger",
    isRow: true,
    action: accountPath(id),
    buttonKind: "danger",
    lead: "Its keys stop at once, its links no longer redirect and are deleted, its domains and webhooks are removed, and its e-mail address is erased. This can't be undone.",
    fields: html`${hiddenFields({ act: "close" })}
${field({ label, name: "confirm", autocomplete: "off", required: true, maxlength: 500 })}`,
    button: "Close this account for good",
  });
}
