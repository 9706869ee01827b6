// GET .../clicks.csv and .../clicks.ndjson: every click of a link as a file, written as it is read.
import { Readable } from "node:stream";
import type { Api } from "../api/fastify.ts";
import { TierRequired } from "../commands/errors.ts";
import { TIER_LIMITS, UTM_FIELDS } from "../events/vocabulary.ts";
import { allClicks } from "../queries/all-clicks.ts";
import { linkHistory } from "../queries/link-history.ts";
import type { LiveClick } from "../queries/live-clicks.ts";
import { accountStreams } from "./account-streams.ts";
import { TooManyStreams } from "./errors.ts";
import { LinkParams } from "./link-pages.ts";
import type { PortalDeps } from "./portal-deps.ts";
import { requireSession, signedIn } from "./sessions.ts";

/** Each reads the whole log since its link was made. */
const MOST_EXPORTS = 2;

const COLUMNS: readonly [name: string, of: (click: LiveClick) => string][] = [
  ["at", ({ at }) => at],
  ["type", ({ kind }) => kind],
  ["long_url", ({ longUrl }) => longUrl],
  ["device", ({ device }) => device],
  ["browser", ({ browser }) => browser.name],
  ["browser_version", ({ browser }) => browser.version],
  ["os", ({ os }) => os.name],
  ["country", ({ country }) => country],
  ["region", ({ region }) => region],
  ["city", ({ city }) => city],
  ["language", ({ language }) => language],
  ["referrer", ({ referrer }) => referrer],
  ...UTM_FIELDS.map((field): [string, (click: LiveClick) => string] => [
    `utm_${field}`,
    ({ utm }) => utm[field] ?? "",
  ]),
  ["ip", ({ ip }) => ip],
  ["user_agent", ({ userAgent }) => userAgent],
  ["visitor", ({ visitor }) => visitor],
];

type Format = { name: string; type: string; head: string; line: (click: LiveClick) => string };

const FORMATS: readonly Format[] = [
  {
    ...{ name: "csv", type: "text/csv; charset=utf-8; header=present" },
    head: `${COLUMNS.map(([name]) => name).join(",")}\r\n`,
    line: (click) => `${COLUMNS.map(([, of]) => cell(of(click))).join(",")}\r\n`,
  },
  {
    ...{ name: "ndjson", type: "application/x-ndjson; charset=utf-8", head: "" },
    line: (click) => `${JSON.stringify(rowOf(click))}\n`,
  },
];

export function clickExportRoutes(app: Api, deps: PortalDeps): void {
  const streams = accountStreams(MOST_EXPORTS);
  app.addHook("preClose", async () => streams.close());
  for (const { name, type, head, line } of FORMATS)
    app.get(
      `/links/:host/:slug/clicks.${name}`,
      { preHandler: requireSession, schema: { params: LinkParams } },
      async (request, reply) => {
        const { accountId, tier } = signedIn(request);
        const { host, slug } = request.params;
        const { link, position } = await linkHistory(deps, accountId, host, slug);
        if (!TIER_LIMITS[tier].developerFeatures) throw new TierRequired("Exports");
        const stream = streams.enter(accountId);
        if (!stream) throw new TooManyStreams("Two exports are under way: wait until one has ended.");
        async function* lines() {
          yield head;
          for await (const clicks of allClicks(deps, link._id, position)) yield clicks.map(line).join("");
        }
        const body = Readable.from(lines(), { signal: stream.signal });
        body.once("close", () => streams.leave(accountId, stream));
        return reply
          .type(type)
          .header("cache-control", "no-store")
          .header("content-disposition", `attachment; filename="clicks-${link.slug}.${name}"`)
          .send(body);
      },
    );
}

function rowOf(click: LiveClick): Record<string, string> {
  return Object.fromEntries(COLUMNS.map(([name, of]) => [name, of(click)]));
}

/** RFC 4180. A text that a spreadsheet would take for a formula gets a quote before it: strangers chose it. */
function cell(value: string): string {
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
