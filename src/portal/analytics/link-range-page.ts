// GET /portal/links/<host>/<slug>/analytics/range: a link's numbers in any range of time and zone, also as they stood.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { requireDeveloper } from "../../commands/errors.ts";
import { InvalidPosition } from "../../event-store/foreign-position.ts";
import { CLICK_KINDS, TIER_LIMITS } from "../../events/vocabulary.ts";
import { INTERVALS } from "../../queries/analytics/ranges/buckets.ts";
import { type RangeAnalytics, rangeAnalytics } from "../../queries/analytics/ranges/range-analytics.ts";
import { parseRange, type RangeRequest } from "../../queries/analytics/ranges/range-request.ts";
import type { DayVisitors } from "../../queries/analytics/ranges/range-sum.ts";
import { isoIn } from "../../queries/analytics/ranges/time-zone.ts";
import { InvalidRange, NotFound } from "../../queries/errors.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { countForAccount } from "../auth/throttle.ts";
import { linkHead } from "../links/link-head.ts";
import { LinkParams } from "../links/link-pages.ts";
import { count, counted, linkPath } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { choice, field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { breakdownCards } from "./breakdowns.ts";
import { KIND_NAMES, kindStats, seriesFigure } from "./series-figure.ts";

/** Empty fields of the form count as absent. */
const text = z
  .string()
  .trim()
  .max(100)
  .transform((given) => given || undefined)
  .optional();
const Query = z.object({
  from: text,
  to: text,
  interval: z.enum(INTERVALS).optional().catch(undefined),
  timezone: text,
  kind: z.enum(CLICK_KINDS).optional().catch(undefined),
  as_of: text,
});
type Query = z.infer<typeof Query>;

const INTERVAL_NAMES = { hour: "Hours", day: "Days", week: "Weeks", month: "Months" } as const;

export function linkRangePage(app: Api, deps: PortalDeps): void {
  const ofRange = rangeAnalytics({ ...deps, logParts: deps.logReader });
  const schema = { params: LinkParams, querystring: Query };
  const path = "/links/:host/:slug/analytics/range";
  app.get(path, { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    requireDeveloper(tier, "Ranges of analytics");
    const { query } = request;
    const shown = await answerTo(async () => {
      const wanted = parseRange(query);
      await countForAccount(deps, accountId, "ranges", TIER_LIMITS[tier].requestsPerHour);
      return figures(wanted, await ofRange(link, wanted, deps.clock()));
    });
    return sendPage(reply, {
      title: `Range of ${link.slug}`,
      nav: "Links",
      styles: ["charts.css"],
      status: "refused" in shown ? 400 : 200,
      body: html`${linkHead(link, "Analytics")}${form(linkPath(link, "/analytics/range"), query)}${
        "refused" in shown ? noticeBox({ kind: "failed", text: shown.refused }) : shown.answer
      }`,
    });
  });
}

/** A range that can't be answered is said below the form, which keeps what was typed. */
async function answerTo(ask: () => Promise<Html>): Promise<{ answer: Html } | { refused: string }> {
  try {
    return { answer: await ask() };
  } catch (error) {
    const isRefusal =
      error instanceof InvalidRange || error instanceof InvalidPosition || error instanceof NotFound;
    if (isRefusal) return { refused: error.message };
    throw error;
  }
}

function form(action: string, query: Query): Html {
  const input = (label: string, name: "from" | "to" | "timezone" | "as_of", hint: string) =>
    field({ label, name, value: query[name] ?? "", hint, autocomplete: "off", maxlength: 100 });
  const intervals = INTERVALS.map((interval) => [interval, INTERVAL_NAMES[interval]] as const);
  const kinds = CLICK_KINDS.map((kind) => [kind, KIND_NAMES[kind]] as const);
  return html`<form method="get" action="${action}" class="card" aria-label="Range of time"><div class="grid grid-small">
${input("From", "from", "Such as 2026-11-01, or 2026-11-01T09:30")}
${input("Until", "to", "Before this time; now when empty")}
${input("Time zone", "timezone", "Such as Europe/Berlin; UTC when empty")}
${input("As of", "as_of", "A time: the numbers as they stood then")}
${choice({ label: "In", name: "interval", value: query.interval ?? "day", options: intervals })}
${choice({ label: "Kind", name: "kind", value: query.kind, options: [["", "All hits"], ...kinds] })}</div>
<div class="actions"><button class="button button-primary">${icon("chart")}Show</button></div></form>`;
}

function figures({ zone }: RangeRequest, found: RangeAnalytics): Html {
  const iso = (instant: number) => isoIn(zone, instant);
  const points = found.series.map((point) => ({ ...point, start: iso(point.start) }));
  const shown = `from ${iso(found.from)} until ${iso(found.to)}`;
  const late = found.behindMs > 0 ? " Clicks recorded later are not in these numbers." : "";
  return html`${kindStats(found.totals, `Hits ${shown}`)}
<section class="card"><h2>In this range</h2>
${seriesFigure({ unit: found.interval, points, zone: zone.name }, `Hits ${shown}`)}</section>
${visitorsCard(found.visitors)}
${breakdownCards(found)}
<p class="muted small">All clicks recorded up to position <code>${found.position}</code> of the log.${late}</p>`;
}

function visitorsCard(days: readonly DayVisitors[]): Html | "" {
  if (days.length === 0) return "";
  return html`<section class="card"><h2>Visitors a day</h2><details class="as-table"><summary>${counted(days.length, "UTC day")} with visitors</summary>
<table class="table"><caption class="visually-hidden">Distinct visitors of each UTC day</caption>
<thead><tr><th scope="col">UTC day</th><th scope="col" class="end">Visitors</th></tr></thead>
<tbody>${days.map(
    ({ day, visitors, estimated }) =>
      html`<tr><th scope="row">${day}</th><td class="end number" data-label="Visitors">${estimated ? "about " : ""}${count(visitors)}</td></tr>`,
  )}</tbody></table></details></section>`;
}
