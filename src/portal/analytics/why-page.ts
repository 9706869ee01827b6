// GET /portal/analytics/why: why the numbers of an account, or of one of its links, changed between two moments.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { namedLink } from "../../commands/links/change-link.ts";
import {
  type ChangesOfNumbers,
  changesRow,
  type NumberChange,
} from "../../queries/analytics/changes/changes-of-numbers.ts";
import { changesRequest } from "../../queries/analytics/changes/changes-request.ts";
import { DAY_MS, isoIn, timeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { ownLinkAt } from "../../queries/links/find-link.ts";
import { isRefused } from "../../runtime/refused.ts";
import { analyticsOf, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type Column, type Columns, card, pageHead, table, time } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

const typed = z.string().max(100).trim().catch("");
const WhyQuery = z.object({
  link: z.string().max(400).optional().catch(undefined),
  since: typed,
  until: typed,
});

const DAYS = 7;

export function whyPage(app: Api, deps: PortalDeps): void {
  const schema = { querystring: WhyQuery };
  app.get("/analytics/why", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier, timeZone: ownZone } = signedIn(request);
    requireDeveloper(tier, "Changes of numbers");
    const { link: key, until } = request.query;
    const link =
      key === undefined ? undefined : await ownLinkAt(deps, accountId, namedLink(key, deps.baseHost));
    const now = deps.clock();
    const zone = timeZone(ownZone ?? request.visit.zone ?? "") ?? UTC;
    const since = request.query.since || isoIn(zone, now.getTime() - DAYS * DAY_MS).slice(0, 16);
    const moments = { since, ...(until && { until }), timezone: zone.name };
    const asking = changesRequest(deps, moments, now).then((range) =>
      deps.logReader.changesOfNumbers({ accountId, link: link?._id, ...range }, request.signal),
    );
    const answer = await asking.catch((error: unknown) => {
      if (isRefused(error, "invalid_range", "invalid_position", "range_too_large", "analytics_busy"))
        return error;
      throw error;
    });
    const isAnswered = !(answer instanceof Error);
    return sendPage(reply, {
      title: "Why the numbers changed",
      nav: "Analytics",
      status: isAnswered ? 200 : answer.status,
      notice: isAnswered ? undefined : { kind: "failed", text: answer.message },
      body: html`${pageHead("Why the numbers changed", {
        above: html`<a href="${link ? analyticsOf(link) : "/portal/analytics"}">Analytics</a>`,
        lead: link ? html`Of ${shortName(link)}, from the log.` : "Of all your links, from the log.",
      })}
${form(key, since, until, zone.name)}${isAnswered && changesCard(answer)}`,
    });
  });
}

function form(link: string | undefined, since: string, until: string, zone: string): Html {
  const moment = (label: string, name: string, value: string) =>
    field({ label, name, value, type: "datetime-local", hint: `Time zone: ${zone}` });
  return html`<section class="card"><form method="get" action="/portal/analytics/why" class="form-row">${hiddenFields({ link })}
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
    Clicks: number(({ click }) => click),
    "QR scans": number(({ qr_scan }) => qr_scan),
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

const KINDS = { click: "clicks", preview: "previews", qr_scan: "QR scans" } as const;

function reasonOf({ reason, withdrawal, kinds }: NumberChange): Html | string {
  if (kinds) return `Were ${KINDS[kinds.from]} and count as ${KINDS[kinds.to]}, by other rules`;
  if (withdrawal) {
    const { made, ended, reason: why } = withdrawal;
    const withdrawn = html`Withdrawn by the operator on ${time(made.at)}: ${why}`;
    if (reason === "withdrawn") return withdrawn;
    return html`${ended && html`Count again, as the operator took back on ${time(ended.at)} what was withdrawn`}: ${why}`;
  }
  return reason === "added"
    ? "Happened and were counted in between"
    : "Happened before, and were counted late";
}
