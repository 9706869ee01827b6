// GET /admin/accounts/:accountId: one account with all that it has. POST: what the operator can do with it.
import type { Api } from "../../../api/fastify.ts";
import { type AccountDetails, accountDetails } from "../../../queries/accounts.ts";
import { count, outward, statusBadge } from "../../links/link-view.ts";
import { address } from "../../shell/address.ts";
import { confirmed, copyable, field, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { sendPage } from "../../shell/page.ts";
import { redirectTo } from "../../shell/visit.ts";
import type { ConsoleDeps } from "../guard.ts";
import { accountPath, CONSOLE_STYLES, orNotice, streamPath } from "../view.ts";
import { AccountAct, AccountParams, namedAccount, performAccountAct } from "./account-acts.ts";
import { accountBadge, approval } from "./accounts-page.ts";

const DONE: Readonly<Record<AccountAct["act"], string>> = {
  tier: "The account is on the other plan from now on.",
  "deactivate-key": "The key is deactivated: requests with it are refused.",
  close: "The account is closed. Its links are deleted within a minute.",
};

export function accountPage(app: Api, deps: ConsoleDeps): void {
  app.get("/accounts/:accountId", { schema: { params: AccountParams } }, async ({ params }, reply) => {
    const account = await accountDetails(deps, await namedAccount(deps, params.accountId));
    const { account_id: id, email, status, tier, opened_at } = account;
    const isOpen = status === "open";
    return sendPage(reply, {
      title: email ?? id,
      nav: "Accounts",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><p class="small"><a href="/admin/accounts">Accounts</a></p>
<h1 class="break">${email ?? id}</h1></div>
<nav class="actions" aria-label="Of this account"><a class="button" href="${address("/admin/events", { account: id })}">Events</a><a class="button" href="${streamPath(`account-${id}`)}">Stream</a></nav></div>
<section class="card"><h2>Account</h2><dl class="facts"><dt>State</dt><dd>${accountBadge(status)}</dd>
<dt>Opened</dt><dd>${time(opened_at)}</dd><dt>Tier</dt><dd>${tier}</dd><dt>Id</dt><dd>${copyable("account-id", id, "the account's id")}</dd></dl>
${isOpen && tierForms(account)}</section>
${linksCard(account)}${keysCard(account)}${domainsCard(account)}${webhooksCard(account)}
${isOpen && closeCard(account)}`,
    });
  });

  const schema = { params: AccountParams, body: AccountAct };
  app.post("/accounts/:accountId", { schema }, async (request, reply) => {
    const { accountId } = request.params;
    const done = await orNotice(async () => {
      await performAccountAct(deps, request, accountId, request.body);
      return {};
    });
    const notice = "notice" in done ? done.notice : ({ kind: "done", text: DONE[request.body.act] } as const);
    return redirectTo(reply, accountPath(accountId), notice);
  });
}

function tierForms({ account_id: id, tier, upgrade_asked_at: asked }: AccountDetails): Html {
  if (asked !== null) return html`<p>Asked for the Developer plan ${time(asked)}.</p>${approval(id)}`;
  const other = tier === "free" ? "developer" : "free";
  const effect =
    other === "free"
      ? "Links and keys stay; webhooks are no longer sent, and what the Free plan lacks is refused."
      : "Custom domains and slugs, webhooks, bulk creation and more requests, from now on.";
  return html`<div>${confirmed(
    `Change the tier to ${other}`,
    html`<p>${effect}</p>`,
    html`<form method="post" action="${accountPath(id)}"><input type="hidden" name="act" value="tier"><button class="button button-primary" name="tier" value="${other}">Change the tier</button></form>`,
  )}</div>`;
}

function linksCard({ account_id: account, links, newest_links: newest }: AccountDetails): Html {
  if (newest.length === 0)
    return html`<section class="card"><h2>Links</h2><p class="muted">None.</p></section>`;
  return html`<section class="card"><div class="card-head"><h2>Links: ${count(links)}</h2><a class="button" href="${address("/admin/streams", { category: "link", account })}">All links</a></div>
<table class="table"><caption class="visually-hidden">The newest links</caption>
<thead><tr><th scope="col">Short link</th><th scope="col">Destination</th><th scope="col">State</th><th scope="col">Made</th></tr></thead>
<tbody>${newest.map(
    ({ link, short_url, long_url, status, created_at }) =>
      html`<tr><td><a class="break" href="${streamPath(`link-${link}`)}">${short_url}</a></td><td data-label="Destination">${outward(long_url)}</td>
<td data-label="State">${statusBadge(status)}</td><td data-label="Made" class="nowrap">${time(created_at)}</td></tr>`,
  )}</tbody></table></section>`;
}

function keysCard({ account_id: account, keys }: AccountDetails): Html {
  if (keys.length === 0)
    return html`<section class="card"><h2>API keys</h2><p class="muted">None.</p></section>`;
  return html`<section class="card"><h2>API keys</h2><table class="table"><caption class="visually-hidden">API keys, newest first</caption>
<thead><tr><th scope="col">Label</th><th scope="col">Key</th><th scope="col">State</th><th scope="col">Issued</th><th scope="col">Last used</th><th scope="col" class="end"><span class="visually-hidden">Actions</span></th></tr></thead>
<tbody>${keys.toReversed().map(
    ({ key_id, label, hint, status, issued_at, last_used_at }) =>
      html`<tr><td><a class="break" href="${address("/admin/events", { actor: `key:${key_id}` })}">${label || "No label"}</a></td><td data-label="Key"><code>…${hint}</code></td>
<td data-label="State">${status}</td><td data-label="Issued" class="nowrap">${time(issued_at)}</td>
<td data-label="Last used" class="nowrap">${last_used_at === null ? html`<span class="muted">Never</span>` : time(last_used_at)}</td>
<td class="end">${
        status === "active" &&
        confirmed(
          "Deactivate",
          html`<p>Programs that use <strong>${label || `…${hint}`}</strong> are refused at once. This can't be undone.</p>`,
          html`<form method="post" action="${accountPath(account)}"><input type="hidden" name="act" value="deactivate-key"><button class="button button-danger" name="key_id" value="${key_id}">Deactivate key</button></form>`,
        )
      }</td></tr>`,
  )}</tbody></table></section>`;
}

function domainsCard({ domains }: AccountDetails): Html {
  if (domains.length === 0)
    return html`<section class="card"><h2>Domains</h2><p class="muted">None.</p></section>`;
  return html`<section class="card"><h2>Domains</h2><table class="table"><caption class="visually-hidden">Domains</caption>
<thead><tr><th scope="col">Domain</th><th scope="col">State</th><th scope="col">Added</th><th scope="col">Verified</th></tr></thead>
<tbody>${domains.map(
    ({ hostname, state, active, added_at, verified_at }) =>
      html`<tr><td><a class="break" href="${streamPath(`domain-${hostname}`)}">${hostname}</a></td><td data-label="State">${state === "verified" ? (active ? "active" : "not active") : "not verified"}</td>
<td data-label="Added" class="nowrap">${time(added_at)}</td><td data-label="Verified" class="nowrap">${verified_at === null ? "" : time(verified_at)}</td></tr>`,
  )}</tbody></table></section>`;
}

function webhooksCard({ webhooks }: AccountDetails): Html {
  if (webhooks.length === 0)
    return html`<section class="card"><h2>Webhooks</h2><p class="muted">None.</p></section>`;
  return html`<section class="card"><h2>Webhooks</h2><table class="table"><caption class="visually-hidden">Webhooks</caption>
<thead><tr><th scope="col">Receiver</th><th scope="col">State</th><th scope="col">Sent for</th><th scope="col">Added</th></tr></thead>
<tbody>${webhooks.map(
    ({ host, label, status, paused_by, reason, kinds, added_at }) =>
      html`<tr><td><strong class="break">${label || host}</strong> <span class="muted small break">${host}</span></td>
<td data-label="State">${status === "paused" ? html`paused by ${paused_by}${reason && html`: <span class="break">${reason}</span>`}` : status}</td>
<td data-label="Sent for">${kinds.join(", ")}</td><td data-label="Added" class="nowrap">${time(added_at)}</td></tr>`,
  )}</tbody></table></section>`;
}

function closeCard({ account_id: id, email }: AccountDetails): Html {
  return html`<section class="card card-danger"><h2>Close account</h2>
<p class="muted">Its keys stop at once, its links no longer redirect and are deleted, its domains and webhooks are removed, and its e-mail address is erased. This can't be undone.</p>
<form method="post" action="${accountPath(id)}" class="form-row"><input type="hidden" name="act" value="close">
${field({ label: email === null ? "Type the account's id" : "Type the account's e-mail address", name: "confirm", autocomplete: "off", required: true, maxlength: 500 })}
<button class="button button-danger">Close this account for good</button></form></section>`;
}
