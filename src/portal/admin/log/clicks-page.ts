// GET /admin/clicks: clicks by link, account and time, in the order of the log.
import type { Api } from "../../../api/fastify.ts";
import type { AuditedEvent } from "../../../queries/audit/audited-event.ts";
import { ClicksQuestion } from "../../../queries/audit/questions.ts";
import { searchClicks } from "../../../queries/audit/search-clicks.ts";
import { address } from "../../shell/address.ts";
import { field, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import { withAccount } from "../accounts/account-acts.ts";
import { CLICK_SEARCH, type ConsoleDeps } from "../guard.ts";
import {
  ACCOUNT_NAMES,
  CONSOLE_STYLES,
  empty,
  eventPath,
  nextPage,
  orNotice,
  shortPosition,
  streamPath,
} from "../view.ts";

type Click = { link: string; kind: string; country: string; userAgent: string; ip: string };

export function clicksPage(app: Api, deps: ConsoleDeps): void {
  app.get("/clicks", { schema: { querystring: ClicksQuestion } }, async ({ query }, reply) => {
    const found = await orNotice(async () => {
      const asked = await withAccount(deps, query);
      return await searchClicks({ ...deps, findClicks: deps.logReader.findClicks }, asked, CLICK_SEARCH);
    });
    const notice = "notice" in found ? found.notice : undefined;
    const { events, next } = "notice" in found ? { events: [], next: null } : found;
    const asked = "notice" in found ? query : found;
    const [from, to] = [asked.from ?? undefined, asked.to ?? undefined];
    const { link, account } = query;
    const more =
      next === null ? undefined : address("/admin/clicks", { link, account, from, to, after: next });
    const search = (label: string, name: string, value: string | undefined, placeholder: string) =>
      field({ label, name, type: "search", value: value ?? "", placeholder, autocomplete: "off" });
    return sendPage(reply, {
      title: "Hits",
      nav: "Hits",
      notice,
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1>Hits</h1>
<p class="muted">Clicks of people, by link or QR code, and previews by programs: ${from && to ? html`recorded from ${time(from)} until ${time(to)}` : "of all times"}, in the order of the log. <a href="/admin/streams?category=clicks">Hours with hits</a></p></div></div>
<form method="get" action="/admin/clicks" class="card console-filters" role="search">
${search("Link", "link", link, "slug, host/slug or short URL")}
${search("Account", "account", account, ACCOUNT_NAMES)}
${search("From", "from", from, "2026-03-01T10:00Z")}
${search("Until", "to", to, "2026-03-01T11:00Z")}
<div class="actions"><button class="button button-primary">${icon("search")}Find</button><a class="button" href="/admin/clicks">Clear</a></div></form>
${events.length === 0 ? empty("No hits", next === null ? "None was recorded that is like that." : "None so far: the log is long, and the search goes on from here.") : table(events)}
${next !== null && html`<p class="muted small">Searched up to position ${shortPosition(next)}: there may be more.</p>`}
${nextPage(more, "Later")}`,
    });
  });
}

function table(events: readonly AuditedEvent[]): Html {
  return html`<section class="card"><table class="table"><caption class="visually-hidden">Hits</caption>
<thead><tr><th scope="col">Recorded</th><th scope="col" class="wide">Link</th><th scope="col">Kind</th><th scope="col">From</th><th scope="col">User agent</th></tr></thead>
<tbody>${events.map(({ stream, revision, recorded_at, data }) => {
    const { link, kind, country, userAgent, ip } = data as Click;
    return html`<tr><td class="nowrap"><a href="${eventPath(stream, revision)}">${time(recorded_at)}</a></td>
<td data-label="Link"><a class="break" href="${streamPath(`link-${link}`)}">${link}</a></td>
<td data-label="Kind">${kind}</td><td data-label="From">${country} <span class="muted small">${ip}</span></td>
<td data-label="User agent"><span class="break small">${userAgent}</span></td></tr>`;
  })}</tbody></table></section>`;
}
