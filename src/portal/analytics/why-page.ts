// GET /portal/analytics/why: why the numbers of a page of analytics changed between two moments: of the same time, under the same filters.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import {
  type ChangesOfNumbers,
  changesRow,
  type NumberChange,
} from "../../queries/analytics/changes/changes-of-numbers.ts";
import { changesRequest } from "../../queries/analytics/changes/changes-request.ts";
import { DAY_MS, isoIn } from "../../queries/analytics/time-zone.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { type Column, type Columns, card, table, time } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { signedIn } from "../shell/sessions.ts";
import { filterChips } from "./analytics-bar.ts";
import { acceptedFilters } from "./ask-view.ts";
import { kindsInSentence } from "./value-names.ts";
import {
  AnalyticsQuery,
  type AnalyticsView,
  hiddenView,
  requestedView,
  viewAddress,
  WHY,
} from "./view-address.ts";

const typed = z.string().max(100).trim().catch("");
const WhyQuery = AnalyticsQuery.extend({ since: typed, until: typed });

const DAYS = 7;

export function whyPage(app: Api, deps: PortalDeps): void {
  const schema = { querystring: WhyQuery };
  app.get("/analytics/why", { schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    requireDeveloper(tier, "Changes of numbers");
    const { since: start, until } = request.query;
    const now = deps.clock();
    const view = requestedView(request, request.query, now);
    const { zone, request: range, errors } = view.range;
    const since = start || isoIn(zone, now.getTime() - DAYS * DAY_MS).slice(0, 16);
    const moments = { since, ...(until && { until }), timezone: zone.name };
    const ask = async () => {
      const [problem] = Object.values(errors);
      if (!range) throw new Refused("invalid_range", problem);
      const filters = await acceptedFilters(deps, accountId, view.filters);
      const between = await changesRequest(deps, moments, now);
      const hits = { filters, from: range.from, to: range.to, zone: zone.name };
      const question = { accountId, ...between, ...hits };
      const answer = await deps.logReader.changesOfNumbers(question, request.signal);
      return { filters, answer, refused: undefined };
    };
    const { filters, answer, refused } = await ask().catch((error: unknown) => {
      if (isRefused(error, ...REFUSED)) return { filters: view.filters, answer: undefined, refused: error };
      throw error;
    });
    return sendPage(reply, {
      title: "Why the numbers changed",
      nav: "Analytics",
      status: refused?.status,
      notice: refused && { kind: "failed", text: refused.message },
      above: html`<a href="${viewAddress(view)}">Analytics</a>`,
      lead: `What happened in the log to the clicks of this time: ${view.range.name}. Also what cancels out.`,
      cards: [
        filterChips({ ...view, filters, path: WHY }),
        form(view, since, until),
        answer && changesCard(answer),
      ],
    });
  });
}

const REFUSED = [
  ...(["invalid_range", "invalid_position", "range_too_large", "analytics_busy"] as const),
  ...(["invalid_request", "invalid_link"] as const),
] as const;

function form(view: AnalyticsView, since: string, until: string): Html {
  const moment = (label: string, name: string, value: string) =>
    field({ label, name, value, type: "datetime-local", hint: `Time zone: ${view.range.zone.name}` });
  return html`<section class="card"><form method="get" action="${WHY}" class="form-row">${hiddenView(view)}
${moment("Since", "since", since)}${moment("Until (empty: now)", "until", until)}<button class="button button-primary">Show</button></form></section>`;
}

type Row = { what: Html | string; hits: ReturnType<typeof changesRow>["before"]; isChange: boolean };

function changesCard(answer: ChangesOfNumbers): Html {
  const { before, after, changes } = changesRow(answer);
  const at = ({ time: moment }: ChangesOfNumbers["since"]) => (moment ? time(moment) : "the beginning");
  const rows: Row[] = [
    { what: html`<strong>As of ${at(answer.since)}</strong>`, hits: before, isChange: false },
    ...answer.changes.map((change, n) => ({
      what: reasonOf(change),
      hits: changes[n] as Row["hits"],
      isChange: true,
    })),
    { what: html`<strong>As of ${at(answer.until)}</strong>`, hits: after, isChange: false },
  ];
  const number = (value: (hits: Row["hits"]) => number): Column<Row> => ({
    end: true,
    cell: ({ hits, isChange }) => signed(value(hits), isChange),
  });
  const columns: Columns<Row> = {
    "What happened": ({ what }) => what,
    Clicks: number(({ click, qr_scan }) => click + qr_scan),
    "QR scans of them": number(({ qr_scan }) => qr_scan),
    Previews: number(({ preview }) => preview),
    All: number(({ total }) => total),
  };
  return card("From one to the other", table("Changes", columns, rows), {
    lead: answer.changes.length === 0 ? "Nothing changed in between." : undefined,
  });
}

function signed(value: number, isChange: boolean): string {
  const shown = Math.abs(value).toLocaleString("en");
  if (!isChange) return shown;
  return value === 0 ? "" : `${value > 0 ? "+" : "−"}${shown}`;
}

function reasonOf({ reason, withdrawal, kinds }: NumberChange): Html | string {
  if (kinds)
    return `Were ${kindsInSentence(kinds.from)} and count as ${kindsInSentence(kinds.to)}, by other rules`;
  if (withdrawal) {
    const { made, ended, link, reason: why } = withdrawal;
    const withdrawn = html`Withdrawn by the operator on ${time(made.at)}, of ${link}: ${why}`;
    if (reason === "withdrawn") return withdrawn;
    return html`${ended && html`Count again, as the operator took back on ${time(ended.at)} what was withdrawn`}: ${why}`;
  }
  return reason === "added"
    ? "Happened and were counted in between"
    : "Happened before, and were counted late";
}
