// GET /api/v1/analytics: the numbers of an account; /clicks: its single clicks, as pages and as a file.
import { z } from "zod";
import { type Caller, requireDeveloper } from "../../commands/caller.ts";
import { Refused } from "../../commands/refusals.ts";
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import { CONTENT_TYPES, sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { acceptFilters } from "../../queries/analytics/filter-values.ts";
import type {
  AccountAnswer,
  ClickListQuestion,
  GroupBy,
  Point,
  Totals,
} from "../../queries/analytics/question.ts";
import { parseRange } from "../../queries/analytics/range.ts";
import { isoIn } from "../../queries/analytics/time-zone.ts";
import { behindCursor, cursorOf, refuseForeignPosition } from "../../queries/cursor.ts";
import { type CurrentLinkDeps, ownLink, ownLinkAt } from "../../queries/links/find-link.ts";
import { namedLink } from "../../queries/links/named-link.ts";
import type { ClickPlace, LogReader } from "../../queries/log-reader/log-reader.ts";
import type { Api } from "../fastify.ts";
import { apiErrors } from "../schemas.ts";
import {
  type AccountAnalyticsAnswer,
  AccountAnalyticsParameters,
  AccountAnalyticsSchema,
  ClickExportParameters,
  ClickPageSchema,
  ClickParameters,
  type FilterParameters,
} from "./account-schema.ts";
import { gapsAnswer } from "./answers.ts";

type Deps = CurrentLinkDeps & {
  exports: OpenStreams;
  logReader: Pick<LogReader, "askAccount" | "clickPage" | "clickFile">;
  clock: () => Date;
};

const ANALYTICS = `Totals, series and one breakdown of the clicks of all links of the account, of all keys and of the portal,
under any filters. Of more clicks than are counted at once \`range_too_large\` says what to narrow.
Developer tier.`;
const CLICKS = `The single clicks that the numbers of \`/api/v1/analytics\` count under the same filters, in the order in
which they were recorded. Developer tier.`;
const EXPORT = `The same clicks as a file, streamed, of two at a time for an account. Developer tier.`;

export function accountAnalyticsRoutes(app: Api, deps: Deps): void {
  const tags = ["Analytics"];
  const analytics = {
    operationId: "getAccountAnalytics",
    summary: "Read the analytics of the account",
    description: ANALYTICS,
    tags,
    querystring: AccountAnalyticsParameters,
    response: { 200: AccountAnalyticsSchema, ...apiErrors(400, 401, 402, 403, 404) },
  };
  app.get("/api/v1/analytics", { schema: analytics }, async ({ caller, query, signal }) => {
    requireDeveloper(caller.tier, "Analytics of an account");
    const { group_by: group, interval, compare, limit, ...parameters } = query;
    const { question, iso } = await clickQuestion(deps, caller, parameters);
    const groupBy = group === undefined ? [] : [group];
    const now = deps.clock().getTime();
    const asked = { ...question, groupBy, interval, compare, limit, now };
    const answer = await deps.logReader.askAccount(asked, signal);
    return answerOf(answer, group, question.zone, iso);
  });

  const clicks = {
    operationId: "listClicks",
    summary: "List the clicks of the account",
    description: CLICKS,
    tags,
    querystring: ClickParameters,
    response: { 200: ClickPageSchema, ...apiErrors(400, 401, 402, 403, 404) },
  };
  app.get("/api/v1/clicks", { schema: clicks }, async ({ caller, query, signal }) => {
    requireDeveloper(caller.tier, "Lists of clicks");
    const { cursor, limit, ...parameters } = query;
    const { question } = await clickQuestion(deps, caller, parameters);
    const page = await deps.logReader.clickPage(question, await placeOf(deps, cursor), limit, signal);
    const next = page.next && cursorOf({ value: page.next.upTo, id: page.next.after });
    return { clicks: page.clicks, next_cursor: next };
  });

  const file = {
    operationId: "exportClicks",
    summary: "Export the clicks of the account",
    description: EXPORT,
    tags,
    querystring: ClickExportParameters,
    response: {
      200: {
        description: "A file",
        content: Object.fromEntries(
          Object.values(CONTENT_TYPES).map((type) => [type.split(";")[0], { schema: z.string() }]),
        ),
      },
      ...apiErrors(400, 401, 402, 403, 404),
    },
  };
  // A HEAD would read the whole export for nobody.
  app.get("/api/v1/clicks/export", { schema: file, exposeHeadRoute: false }, async (request, reply) => {
    const { caller, query } = request;
    requireDeveloper(caller.tier, "Exports");
    const { format: named, for: reader, ...parameters } = query;
    if (reader !== undefined && named !== "csv")
      throw new Refused("invalid_request", `for: ${reader} needs format=csv`, { field: "for" });
    const format = reader ?? named;
    const { question } = await clickQuestion(deps, caller, parameters);
    const sent = { type: CONTENT_TYPES[format], name: `clicks.${named}` };
    return sendExport(reply, deps.exports, caller.accountId, sent, (signal) =>
      deps.logReader.clickFile(question, { format, columns: "of account" }, signal),
    );
  });
}

/** @throws invalid_range, what acceptFilters and linkKeyOf throw */
async function clickQuestion(
  deps: Deps,
  caller: Caller,
  { from, to, timezone, ...filters }: FilterParameters,
): Promise<{ question: ClickListQuestion; iso: (instant: number) => string }> {
  const range = parseRange({ from, to, timezone });
  const { zone } = range;
  const question = {
    accountId: caller.accountId,
    filters: await acceptFilters(filters, (name) => linkKeyOf(deps, caller, name)),
    kinds: CLICK_KINDS,
    from: range.from,
    to: range.to,
    zone: zone.name,
  };
  return { question, iso: (instant) => isoIn(zone, instant) };
}

/** Also of a deleted one, which keeps its clicks. @throws not_found, invalid_link; forbidden for another account's link */
export async function linkKeyOf(deps: CurrentLinkDeps, caller: Caller, name: string): Promise<string> {
  const link = name.includes("/")
    ? await ownLinkAt(deps, caller.accountId, namedLink(name, deps.baseHost), "forbidden")
    : await ownLink(deps, caller, { slug: name }, { orDeleted: true });
  return link._id;
}

/** @throws invalid_cursor, invalid_position */
async function placeOf(deps: Deps, cursor: string | undefined): Promise<ClickPlace | undefined> {
  const { after } = behindCursor(cursor);
  if (!after) return undefined;
  const place = { after: after.id, upTo: String(after.value) };
  for (const position of Object.values(place)) await refuseForeignPosition(deps, position);
  return place;
}

function answerOf(
  { from, to, interval, totals, previous, series, groups, ...answer }: AccountAnswer,
  group: GroupBy | undefined,
  timezone: string,
  iso: (instant: number) => string,
): AccountAnalyticsAnswer {
  const { rows, other } = (group && groups[group]) ?? {};
  const seriesOf = (points: readonly Point[]) =>
    points.map(({ start, ...counts }) => ({ start: iso(start), ...totalsAnswer(counts) }));
  return {
    range: { from: iso(from), to: iso(to), interval, timezone },
    totals: totalsAnswer(totals),
    ...(previous && {
      previous: {
        ...{ from: iso(previous.from), to: iso(previous.to) },
        totals: totalsAnswer(previous.totals),
        series: seriesOf(previous.series),
      },
    }),
    series: seriesOf(series),
    ...(rows && {
      groups: rows.map(({ value, label, ...counts }) => ({
        value,
        ...(label !== undefined && { label }),
        ...totalsAnswer(counts),
      })),
      other: other ? totalsAnswer(other) : null,
    }),
    ...gapsAnswer(answer.gaps, iso),
    as_of_position: answer.position,
    behind_ms: answer.behindMs,
  };
}

function totalsAnswer({ people, visitors, ...kinds }: Totals) {
  return { people, ...kinds, visitors };
}
