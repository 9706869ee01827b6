// GET /admin/events: look up events by account, actor, correlation id, type, time and position. GET /admin/log: all, in order.
import type { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { eventIndex } from "../../../projections/definitions/event-index.ts";
import { logPage } from "../../../queries/audit/audited-event.ts";
import { type EventPage, findEvents } from "../../../queries/audit/find-events.ts";
import {
  CATEGORIES,
  EventsQuestion,
  INDEXED_CATEGORIES,
  LogQuestion,
} from "../../../queries/audit/questions.ts";
import { counted } from "../../links/link-view.ts";
import { address } from "../../shell/address.ts";
import { choice, field } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import { withAccount } from "../accounts/account-acts.ts";
import type { ConsoleDeps } from "../guard.ts";
import { projectionPath } from "../projections/projection-view.ts";
import { ACCOUNT_NAMES, CONSOLE_STYLES, empty, eventTable, nextPage, orNotice, shown } from "../view.ts";

const NOTHING: EventPage = { events: [], next: null, set_aside: [] };

type Asked = z.infer<typeof EventsQuestion>;

export function findPages(app: Api, deps: ConsoleDeps): void {
  app.get("/events", { schema: { querystring: EventsQuestion } }, async ({ query }, reply) => {
    const { correlation_id: correlationId, up_to: upTo, ...rest } = query;
    const found = await orNotice(async () => {
      const filter = { ...(await withAccount(deps, rest)), correlationId, upTo };
      return await findEvents(deps, filter, query);
    });
    const notice = "notice" in found ? found.notice : undefined;
    const { events, next, set_aside: missing } = "notice" in found ? NOTHING : found;
    const { limit: _, ...asked } = query;
    const older = next === null ? undefined : address("/admin/events", { ...asked, cursor: next });
    return sendPage(reply, {
      title: "Find events",
      nav: "Find events",
      notice,
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1>Find events</h1>
<p class="muted">Of accounts, domains, links and the operator, newest first, a second after they happened. <a href="/admin/clicks">Hits</a> are found apart; <a href="/admin/log">the log</a> has everything in its order, and <a href="/admin/explain">explain a link</a> all of one link.</p></div></div>
${filters(query)}
${missing.length > 0 && html`<p class="muted">${counted(missing.length, "event")} that can't be read may be among them: <a href="${projectionPath(eventIndex.name)}">set aside</a>.</p>`}
${events.length === 0 ? empty("Nothing found", "No event is like that.") : html`<section class="card"><h2 class="visually-hidden">Events</h2>${eventTable(events, "Events found")}${nextPage(older, "Older")}</section>`}`,
    });
  });

  app.get("/log", { schema: { querystring: LogQuestion } }, async ({ query }, reply) => {
    const { events, next } = await logPage(deps, query);
    const { category, from } = query;
    const later = next === null ? undefined : address("/admin/log", { category, from: next });
    return sendPage(reply, {
      title: "The log",
      nav: "Find events",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><p class="small"><a href="/admin/events">Find events</a></p><h1>The log</h1>
<p class="muted">Everything in the order of positions, hits too; seals are <a href="/admin/seals">apart</a>.</p></div></div>
<form method="get" action="/admin/log" class="form-row filters" role="search">
${field({ label: "From position", name: "from", type: "search", value: from ?? "", placeholder: "The beginning", autocomplete: "off" })}
${oneOf(
  "category",
  "Category",
  category,
  CATEGORIES.filter((one) => one !== "seals"),
)}
<button class="button">${icon("search")}Show</button></form>
${events.length === 0 ? empty("Nothing there", "The log has no such events from here on.") : html`<section class="card"><h2 class="visually-hidden">Events</h2>${eventTable(events.map(shown), "Events of the log")}${nextPage(later, "Later")}</section>`}`,
    });
  });
}

function filters(asked: Asked): Html {
  const search = (label: string, name: keyof Asked, placeholder: string) =>
    field({
      label,
      name,
      type: "search",
      value: String(asked[name] ?? ""),
      placeholder,
      autocomplete: "off",
    });
  return html`<form method="get" action="/admin/events" class="card console-filters" role="search">
${search("Account", "account", ACCOUNT_NAMES)}
${search("Actor", "actor", "operator, key:…, account:…")}
${search("Correlation id", "correlation_id", "The x-request-id of a request")}
${oneOf("category", "Category", asked.category, INDEXED_CATEGORIES)}
${oneOf("type", "Type", asked.type, eventIndex.handles)}
${search("From", "from", "2026-03-01T10:00Z")}
${search("Until", "to", "2026-03-02")}
${search("Up to position", "up_to", "Of an event")}
<div class="actions"><button class="button button-primary">${icon("search")}Find</button><a class="button" href="/admin/events">Clear</a></div></form>`;
}

function oneOf(name: string, label: string, value: string | undefined, values: readonly string[]): Html {
  const options = values.map((one) => [one, one] as const);
  return choice({ name, label, value, options: [["", "All"], ...options] });
}
