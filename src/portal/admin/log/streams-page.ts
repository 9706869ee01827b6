// GET /admin/streams: the streams of a category, newest first; clicks by the hour. GET /admin/stream: one of them.
import type { Api } from "../../../api/fastify.ts";
import { categoryOf } from "../../../event-store/categories.ts";
import { streamPage } from "../../../queries/audit/audited-event.ts";
import {
  type ClickHoursPage,
  type ListedStream,
  listClickHours,
  listStreams,
} from "../../../queries/audit/list-streams.ts";
import { CATEGORIES, StreamQuestion, StreamsQuestion } from "../../../queries/audit/questions.ts";
import { hasState } from "../../../queries/audit/stream-state.ts";
import { count } from "../../links/link-view.ts";
import { address } from "../../shell/address.ts";
import { field, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import { withAccount } from "../accounts/account-acts.ts";
import type { ConsoleDeps } from "../guard.ts";
import { blockCard } from "../links/block-card.ts";
import {
  ACCOUNT_NAMES,
  accountPath,
  CONSOLE_STYLES,
  empty,
  eventTable,
  nextPage,
  orNotice,
  shown,
  statePath,
  streamPath,
} from "../view.ts";

const HOUR_MS = 3_600_000;

export function streamsPages(app: Api, deps: ConsoleDeps): void {
  app.get("/streams", { schema: { querystring: StreamsQuestion } }, async ({ query }, reply) => {
    const { category, account } = query;
    const isClicks = category === "clicks";
    const found = await orNotice(async () =>
      isClicks
        ? await listClickHours(deps, query)
        : await listStreams(deps, await withAccount(deps, query), query),
    );
    const notice = "notice" in found ? found.notice : undefined;
    const cursor = "notice" in found ? null : found.next;
    const next = cursor === null ? undefined : address("/admin/streams", { category, account, cursor });
    return sendPage(reply, {
      title: "Streams",
      nav: "Streams",
      notice,
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1>Streams</h1>
<p class="muted">${isClicks ? "Hits lie in streams of their writers and days: look at them by the hour." : "By the time of their first events, newest first."}</p></div></div>
<nav class="choices" aria-label="Category">${CATEGORIES.map(
        (one) =>
          html`<a href="${address("/admin/streams", { category: one, account })}" ${one === category ? html`aria-current="true"` : ""}>${one}</a>`,
      )}</nav>
${!isClicks && accountFilter(category, account)}
${"hours" in found ? hours(found) : streams("notice" in found ? [] : found.streams)}
${nextPage(next, "Older")}`,
    });
  });

  app.get("/stream", { schema: { querystring: StreamQuestion } }, async ({ query }, reply) => {
    const { name } = query;
    const { events, next } = await streamPage(deps, name, query);
    const older = next === null ? undefined : address("/admin/stream", { name, before: next });
    return sendPage(reply, {
      title: name,
      nav: "Streams",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><p class="small"><a href="${address("/admin/streams", { category: categoryOf(name) })}">Streams</a></p>
<h1 class="break">${name}</h1></div>
${hasState(name) && html`<a class="button" href="${statePath(name)}">State</a>`}</div>
${await blockCard(deps, name)}
<section class="card"><h2>Events, newest first</h2>${eventTable(events.map(shown), "Events of the stream", { withStream: false })}
${nextPage(older, "Older")}</section>`,
    });
  });
}

function accountFilter(category: string, account: string | undefined): Html {
  return html`<form method="get" action="/admin/streams" class="form-row filters" role="search">
<input type="hidden" name="category" value="${category}">
${field({ label: "Account", name: "account", type: "search", value: account ?? "", placeholder: ACCOUNT_NAMES, autocomplete: "off" })}
<button class="button">${icon("search")}Show</button></form>`;
}

function streams(found: readonly ListedStream[]): Html {
  if (found.length === 0)
    return empty("No streams", "There is none of this category, or none of this account.");
  return html`<section class="card"><table class="table"><caption class="visually-hidden">Streams</caption>
<thead><tr><th scope="col">Stream</th><th scope="col">Account</th><th scope="col" class="end">Events</th><th scope="col">First event</th><th scope="col">Last event</th></tr></thead>
<tbody>${found.map(
    ({ stream, account, events, opened_at, last_type, last_recorded_at }) =>
      html`<tr><td><a class="break" href="${streamPath(stream)}"><strong>${stream}</strong></a></td>
<td data-label="Account">${account === null ? html`<span class="muted">none</span>` : html`<a class="break" href="${accountPath(account)}">${account}</a>`}</td>
<td data-label="Events" class="end number">${count(events)}</td>
<td data-label="First event" class="nowrap">${time(opened_at)}</td>
<td data-label="Last event">${last_type} <span class="muted small">${time(last_recorded_at)}</span></td></tr>`,
  )}</tbody></table></section>`;
}

function hours({ hours: found }: ClickHoursPage): Html {
  if (found.length === 0) return empty("No hits", "Nobody has followed a link yet.");
  return html`<section class="card"><table class="table"><caption class="visually-hidden">Hours with hits</caption>
<thead><tr><th scope="col">Hour</th><th scope="col" class="end">Hits recorded</th></tr></thead>
<tbody>${found.map(({ hour, clicks }) => {
    const to = new Date(Date.parse(hour) + HOUR_MS).toISOString();
    return html`<tr><td><a href="${address("/admin/clicks", { from: hour, to })}"><strong>${hour.slice(0, 13).replace("T", " ")}:00 UTC</strong></a></td>
<td data-label="Hits recorded" class="end number">${count(clicks)}</td></tr>`;
  })}</tbody></table></section>`;
}
