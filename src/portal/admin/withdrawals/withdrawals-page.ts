// GET /admin/withdrawals: a link's withdrawals of clicks, and what another one would take out. POST: withdraws, restores.
import type { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { type WithdrawnSelection, withdrawnCount } from "../../../click-log/withdrawals.ts";
import { MOST_REASON } from "../../../commands/accept-text.ts";
import type { WithdrawalPreview } from "../../../commands/withdrawals/withdraw-clicks.ts";
import type { MadeWithdrawal } from "../../../commands/withdrawals/withdrawal.ts";
import { WithdrawalQuestion } from "../../../queries/audit/questions.ts";
import { hitFacts } from "../../links/explanation-view.ts";
import { count } from "../../links/link-view.ts";
import { address } from "../../shell/address.ts";
import { field, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import { redirectTo } from "../../shell/visit.ts";
import type { ConsoleDeps } from "../guard.ts";
import { CONSOLE_STYLES, empty, orNotice } from "../view.ts";
import {
  previewFor,
  RestoreForm,
  restoreFor,
  WithdrawalForm,
  withdrawalsFor,
  withdrawFor,
} from "./operator-withdrawals.ts";

const PATH = "/admin/withdrawals";

export function withdrawalsPages(app: Api, deps: ConsoleDeps): void {
  app.get("/withdrawals", { schema: { querystring: WithdrawalQuestion } }, async ({ query }, reply) => {
    const { link, from } = query;
    const found = await orNotice(async () => ({
      made: link === undefined ? undefined : await withdrawalsFor(deps, link),
      preview: link && from ? await previewFor(deps, { ...query, link, from }) : undefined,
    }));
    const { made, preview } = "notice" in found ? {} : found;
    return sendPage(reply, {
      title: "Withdrawals",
      nav: "Withdrawals",
      notice: "notice" in found ? found.notice : undefined,
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1>Withdrawals</h1>
<p class="muted">Hits of a link that no longer count, such as tests or fraud. Their events stay, and each withdrawal can be taken back.</p></div></div>
${filters(query)}
${preview && previewCard(preview, link ?? "")}
${made && (made.length === 0 ? empty("No withdrawals", "No hit of this link was ever withdrawn.") : table(made, link ?? ""))}`,
    });
  });

  app.post("/withdrawals", { schema: { body: WithdrawalForm } }, async (request, reply) => {
    const { body } = request;
    const done = await orNotice(async () => await withdrawFor(deps, request, body));
    if ("notice" in done)
      return redirectTo(reply, address(PATH, { ...body, reason: undefined }), done.notice);
    const text = `${count(done.clicks.counted)} hits no longer count, from the moment the projector has seen it.`;
    return redirectTo(reply, address(PATH, { link: body.link }), { kind: "done", text });
  });

  app.post("/withdrawals/restore", { schema: { body: RestoreForm } }, async (request, reply) => {
    const { link } = request.body;
    const done = await orNotice(async () => await restoreFor(deps, request, request.body));
    const text = "Its hits count again, unless another withdrawal covers them.";
    const notice = "notice" in done ? done.notice : ({ kind: "done", text } as const);
    return redirectTo(reply, address(PATH, { link }), notice);
  });
}

function filters({
  link,
  from,
  to,
  visitor,
  ip_prefix,
  user_agent,
}: z.infer<typeof WithdrawalQuestion>): Html {
  const given = (label: string, name: string, value: string | undefined, placeholder: string) =>
    field({ label, name, value: value ?? "", placeholder, autocomplete: "off" });
  return html`<form method="get" action="${PATH}" class="card console-filters">
${given("Link", "link", link, "slug, host/slug or short URL")}
${given("From", "from", from, "2026-03-01T10:00Z")}
${given("Until", "to", to, "now")}
${given("Network", "ip_prefix", ip_prefix, "203.0.113.0/24")}
${given("User agent contains", "user_agent", user_agent, "HeadlessChrome")}
${given("Visitor code", "visitor", visitor, "16 hex digits")}
<div class="actions"><button class="button button-primary">${icon("search")}Show</button><a class="button" href="${PATH}">Clear</a></div></form>`;
}

function previewCard(preview: WithdrawalPreview, link: string): Html {
  const { selection, clicks } = preview;
  const { counted, matched, kinds, days, samples } = clicks;
  const before = matched - counted;
  return html`<section class="card stack"><h2>What would go: ${count(counted)} hits</h2>
<p class="muted">${selectionText(selection)}${before > 0 && html`. ${count(before)} more are named, and withdrawn already`}.</p>
${
  counted > 0 &&
  html`<dl class="facts">${hitFacts(kinds)}
${Object.entries(days).map(([day, clicksOfDay]) => html`<dt>On ${day}</dt><dd>${count(clicksOfDay)}</dd>`)}</dl>
<table class="table"><caption class="visually-hidden">The latest of them</caption>
<thead><tr><th scope="col">Happened</th><th scope="col">Kind</th><th scope="col">From</th><th scope="col">User agent</th></tr></thead>
<tbody>${samples.map(
    ({ at, kind, country, ip, userAgent }) =>
      html`<tr><td class="nowrap">${time(at)}</td><td data-label="Kind">${kind}</td><td data-label="From">${country} <span class="muted small">${ip}</span></td><td data-label="User agent"><span class="break small">${userAgent}</span></td></tr>`,
  )}</tbody></table>
${withdrawForm(preview, link)}`
}</section>`;
}

function withdrawForm({ selection, clicks }: WithdrawalPreview, link: string): Html {
  const { from, to, visitor, ipPrefix, userAgent } = selection;
  const kept = { link, from, to, visitor, ip_prefix: ipPrefix, user_agent: userAgent };
  return html`<form method="post" action="${PATH}" class="stack">
${Object.entries(kept).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}
${field({ label: "Reason", name: "reason", required: true, maxlength: MOST_REASON, autocomplete: "off", hint: "The link's owner sees it in the link's history." })}
<div><button class="button button-danger">Withdraw ${count(clicks.counted)} hits</button></div></form>`;
}

function table(made: readonly MadeWithdrawal[], link: string): Html {
  return html`<section class="card"><h2>Withdrawals of this link</h2><table class="table"><caption class="visually-hidden">Withdrawals, newest first</caption>
<thead><tr><th scope="col">Made</th><th scope="col" class="end">Hits</th><th scope="col">Which</th><th scope="col">Reason</th><th scope="col">State</th></tr></thead>
<tbody>${made.toReversed().map(
    (one) =>
      html`<tr><td class="nowrap">${time(one.at)}</td><td data-label="Hits" class="end number">${count(withdrawnCount(one))}</td>
<td data-label="Which"><span class="break">${selectionText(one)}</span></td><td data-label="Reason"><span class="break">${one.reason}</span></td>
<td data-label="State">${one.restoredAt === null ? restoreForm(one, link) : html`taken back ${time(one.restoredAt)}`}</td></tr>`,
  )}</tbody></table></section>`;
}

function restoreForm(made: MadeWithdrawal, link: string): Html {
  return html`<form method="post" action="${PATH}/restore"><input type="hidden" name="link" value="${link}">
<input type="hidden" name="withdrawal_id" value="${made.withdrawalId}"><button class="button" aria-label="Restore ${count(withdrawnCount(made))} hits">Restore</button></form>`;
}

function selectionText({ from, to, visitor, ipPrefix, userAgent }: WithdrawnSelection): Html {
  return html`From ${time(from)} until ${time(to)}${ipPrefix && html`, from ${ipPrefix}`}${userAgent && html`, user agent with “${userAgent}”`}${visitor && html`, visitor ${visitor}`}`;
}
