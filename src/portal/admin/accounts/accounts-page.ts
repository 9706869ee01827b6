// GET /admin/accounts: finds an account by whatever names it; who waits for the Developer plan; all accounts.
import type { Api } from "../../../api/fastify.ts";
import { emailSecret } from "../../../commands/account/secrets.ts";
import { upgradeRequests } from "../../../commands/account/tier.ts";
import { type AccountRow, accountsPage } from "../../../queries/account-details.ts";
import { AccountsQuestion } from "../../../queries/audit/questions.ts";
import { count } from "../../links/link-view.ts";
import { address } from "../../shell/address.ts";
import { field, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import type { ConsoleDeps } from "../guard.ts";
import { ACCOUNT_NAMES, accountPath, CONSOLE_STYLES, empty, nextPage, orNotice } from "../view.ts";
import { namedAccount } from "./account-acts.ts";

const PATH = "/admin/accounts";

export function accountsPages(app: Api, deps: ConsoleDeps): void {
  app.get("/accounts", { schema: { querystring: AccountsQuestion } }, async ({ query }, reply) => {
    const { find } = query;
    const found =
      find === undefined ? undefined : await orNotice(async () => ({ id: await namedAccount(deps, find) }));
    if (found && "id" in found) return reply.redirect(accountPath(found.id), 303);
    const [{ accounts, next }, waiting] = await Promise.all([
      accountsPage(deps, query),
      waitingForPlan(deps),
    ]);
    const older = next === null ? undefined : address(PATH, { cursor: next });
    return sendPage(reply, {
      title: "Accounts",
      nav: "Accounts",
      notice: found?.notice,
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1>Accounts</h1>
<p class="muted">Found by ${ACCOUNT_NAMES}. E-mail addresses are in no event: they are read from the secrets.</p></div></div>
<form method="get" action="${PATH}" class="form-row filters" role="search">
${field({ label: "Account", name: "find", type: "search", value: find ?? "", placeholder: ACCOUNT_NAMES, autocomplete: "off" })}
<button class="button button-primary">${icon("search")}Find</button></form>
${waiting.length > 0 && waitingCard(waiting)}
${accounts.length === 0 ? empty("No accounts yet", "They appear here once somebody has signed up.") : table(accounts)}
${nextPage(older, "Older")}`,
    });
  });
}

type Waiting = { accountId: string; at: string; email: unknown };

async function waitingForPlan({ secrets, clock }: ConsoleDeps): Promise<Waiting[]> {
  const requests = await upgradeRequests({ secrets, clock });
  return await Promise.all(
    requests.map(async (one) => ({ ...one, email: await secrets.get(emailSecret(one.accountId), clock()) })),
  );
}

function waitingCard(waiting: readonly Waiting[]): Html {
  return html`<section class="card"><h2>Waiting for the Developer plan</h2><table class="table"><caption class="visually-hidden">Accounts that ask for the Developer plan</caption>
<thead><tr><th scope="col">Account</th><th scope="col">Asked</th><th scope="col" class="end"><span class="visually-hidden">Actions</span></th></tr></thead>
<tbody>${waiting.map(
    ({ accountId, at, email }) =>
      html`<tr><td><a class="break" href="${accountPath(accountId)}"><strong>${String(email ?? accountId)}</strong></a></td>
<td data-label="Asked" class="nowrap">${time(at)}</td><td class="end">${approval(accountId)}</td></tr>`,
  )}</tbody></table></section>`;
}

/** Grants the plan that the account asked for. */
export function approval(accountId: string): Html {
  return html`<form method="post" action="${accountPath(accountId)}"><input type="hidden" name="act" value="tier">
<button class="button button-primary" name="tier" value="developer">Approve the Developer plan</button></form>`;
}

function table(accounts: readonly AccountRow[]): Html {
  return html`<section class="card"><table class="table"><caption class="visually-hidden">Accounts, newest first</caption>
<thead><tr><th scope="col">Account</th><th scope="col">Tier</th><th scope="col">State</th><th scope="col" class="end">Links</th><th scope="col">Opened</th></tr></thead>
<tbody>${accounts.map(
    ({ account_id, email, tier, status, links, opened_at }) =>
      html`<tr><td><a class="break" href="${accountPath(account_id)}"><strong>${email ?? account_id}</strong></a></td>
<td data-label="Tier">${tier}</td><td data-label="State">${accountBadge(status)}</td>
<td data-label="Links" class="end number">${count(links)}</td><td data-label="Opened" class="nowrap">${time(opened_at)}</td></tr>`,
  )}</tbody></table></section>`;
}

export function accountBadge(status: AccountRow["status"]): Html {
  return status === "open"
    ? html`<span class="badge badge-good">Open</span>`
    : html`<span class="badge badge-bad">Closed</span>`;
}
