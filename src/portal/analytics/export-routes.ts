// Whatever a page of analytics shows as a file, under the filters and for the time of its address: GET .../numbers.csv, the points of the
// chart or the rows of a breakdown; .../clicks.csv and .../clicks.ndjson, the single clicks.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { Refused } from "../../commands/refusals.ts";
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import { CONTENT_TYPES, CSV_TYPE, sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { type AccountAnswer, GROUPS, type GroupBy, type Totals } from "../../queries/analytics/question.ts";
import { isoIn } from "../../queries/analytics/time-zone.ts";
import { CLICK_FORMATS } from "../../queries/log-reader/log-reader.ts";
import { csvLines } from "../../transfer/csv-cells.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countRead } from "../shell/change-limit.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { signedIn } from "../shell/sessions.ts";
import { acceptedFilters, askView } from "./ask-view.ts";
import { METRIC_ROWS } from "./metrics.ts";
import { valueName } from "./value-names.ts";
import { AnalyticsQuery, type AnalyticsView, METRICS, requestedView, viewAddress } from "./view-address.ts";

const MOST_ROWS = 1_000;
const NumbersQuery = AnalyticsQuery.extend({ of: z.enum(["series", ...GROUPS]).catch("series") });

export function exportRoutes(app: Api, deps: PortalDeps & { exports: OpenStreams }): void {
  // A HEAD would read the whole export for nobody.
  const route = { exposeHeadRoute: false };
  const asked = async (request: Parameters<typeof signedIn>[0], query: z.output<typeof AnalyticsQuery>) => {
    const { accountId, tier } = signedIn(request);
    requireDeveloper(tier, "Exports");
    await countRead(deps, { accountId, tier });
    const view = requestedView(request, query, deps.clock());
    const [problem] = Object.values(view.range.errors);
    if (problem !== undefined || !view.range.request) throw new Refused("invalid_range", problem);
    const filters = await acceptedFilters(deps, accountId, view.filters);
    return { accountId, view: { ...view, filters }, request: view.range.request };
  };

  const numbers = { ...route, schema: { querystring: NumbersQuery } };
  app.get("/analytics/numbers.csv", numbers, async (request, reply) => {
    const { of, ...query } = request.query;
    const { accountId, view } = await asked(request, query);
    const wanted = { groupBy: of === "series" ? [] : [of], limit: MOST_ROWS };
    const { answer, isTooLarge } = await askView(deps, accountId, view, wanted, request.signal);
    if (!answer) throw new Refused(isTooLarge ? "range_too_large" : "invalid_range");
    const [columns, rows] = of === "series" ? seriesOf(view, answer) : groupOf(of, answer);
    const { head, line } = csvLines(columns, true);
    reply.type(CSV_TYPE).header("cache-control", "no-store");
    reply.header("content-disposition", `attachment; filename="${of}.csv"`);
    return reply.send(head + rows.map(line).join(""));
  });

  for (const format of CLICK_FORMATS)
    app.get(
      `/analytics/clicks.${format}`,
      { ...route, schema: { querystring: AnalyticsQuery } },
      async (request, reply) => {
        const { accountId, view, request: range } = await asked(request, request.query);
        const { from, to } = range;
        const question = { accountId, filters: view.filters, kinds: CLICK_KINDS, from, to };
        const file = { type: CONTENT_TYPES[format], name: `clicks.${format}` };
        // Opened in a spreadsheet, mostly.
        const form = { format: format === "csv" ? "spreadsheet" : format, columns: "of account" } as const;
        return sendExport(reply, deps.exports, accountId, file, (signal) =>
          deps.logReader.clickFile({ ...question, zone: view.range.zone.name }, form, signal),
        );
      },
    );
}

/** `what`: for screen readers. */
export function exportLink(view: AnalyticsView, of: "series" | GroupBy, what: string): Html {
  return fileLink(
    view,
    "numbers.csv",
    "CSV",
    html`<span class="visually-hidden">: ${what}</span>`,
    `&of=${of}`,
  );
}

export function fileLink(view: AnalyticsView, file: string, name: string, more?: Html, query = ""): Html {
  const path = `/portal/analytics/${file}`;
  return html`<a class="button button-small" href="${viewAddress(view, { path, open: [] })}${query}" download>${icon("download")}${name}${more}</a>`;
}

const NUMBERS = METRICS.map((metric) => METRIC_ROWS[metric].column);

/** "" for what isn't known. */
function cellsOf(totals: Totals | undefined): string[] {
  return METRICS.map((metric) => String(totals?.[metric] ?? ""));
}

function seriesOf({ range }: AnalyticsView, { series, previous }: AccountAnswer): [string[], string[][]] {
  const iso = (start: number | undefined) => (start === undefined ? "" : isoIn(range.zone, start));
  const then = previous ? ["compared_with", ...NUMBERS.map((name) => `${name}_then`)] : [];
  const length = Math.max(series.length, previous?.series.length ?? 0);
  const rows = Array.from({ length }, (_, n) => {
    const [point, before] = [series[n], previous?.series[n]];
    const compared = previous ? [iso(before?.start), ...cellsOf(before)] : [];
    return [iso(point?.start), ...cellsOf(point), ...compared];
  });
  return [["start", ...NUMBERS, ...then], rows];
}

function groupOf(field: GroupBy, { groups }: AccountAnswer): [string[], string[][]] {
  const { rows = [], other } = groups[field] ?? {};
  const lines = rows.map((row) => [row.value, row.label ?? valueName(field, row.value), ...cellsOf(row)]);
  return [[field, "name", ...NUMBERS], other ? [...lines, ["", "All others", ...cellsOf(other)]] : lines];
}
