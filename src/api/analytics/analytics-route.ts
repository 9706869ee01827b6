// GET /api/v1/analytics/{slug}: route and schemas of linkAnalytics (interface, part 4), and below it of ranges of time.
import { z } from "zod";
import { requireDeveloper } from "../../commands/caller.ts";
import { Refused } from "../../commands/refusals.ts";
import { parseRange } from "../../queries/analytics/range.ts";
import { type CurrentLinkDeps, ownLink } from "../../queries/links/find-link.ts";
import { statusOf } from "../../queries/links/link-statuses.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, DomainIdQuery, SlugParams } from "../schemas.ts";
import { analyticsAnswer, rangeAnswer } from "./answers.ts";
import { AnalyticsSchema, RangeAnalyticsSchema, RangeParameters } from "./link-schema.ts";

type Deps = CurrentLinkDeps & { clock: () => Date; logReader: Pick<LogReader, "linkNumbers"> };

const OWN = "Any link created by any of the caller's keys may be read; another user's link gives 403.";

const WHOLE_LIFE = `${OWN}

The headers \`X-As-Of-Position\` and \`X-Behind-Ms\` say up to which position of the log all clicks are counted, and how
long ago the first one after it was recorded.`;

const RANGE = `Series, totals, breakdowns and daily visitors of a range of time, or as they stood at an earlier time. The sums
are exact: ranges that follow each other add up to the whole. Developer tier.

${OWN}`;

export function analyticsRoutes(app: Api, deps: Deps): void {
  const common = { tags: ["Analytics"], params: SlugParams };
  const wholeLife = {
    operationId: "getAnalytics",
    summary: "Read the analytics of a link",
    description: WHOLE_LIFE,
    ...common,
    querystring: z.looseObject({ domain_id: DomainIdQuery }),
    response: { 200: AnalyticsSchema, ...apiErrors(400, 401, 403, 404) },
  };
  app.get("/api/v1/analytics/:slug", { schema: wholeLife }, async (request, reply) => {
    const { caller, params, query } = request;
    const misplaced = Object.keys(RangeParameters.shape).find((name) => query[name] !== undefined);
    if (misplaced)
      throw new Refused(
        "invalid_range",
        `${misplaced} is a parameter of ranges: read them at /api/v1/analytics/${params.slug}/range`,
      );
    const now = deps.clock();
    const link = await ownLink(deps, caller, { ...params, ...query });
    const numbers = await deps.logReader.linkNumbers(link, undefined, now.getTime(), request.signal);
    // In headers, as the body is what the interface says.
    reply.header("x-as-of-position", numbers.position).header("x-behind-ms", String(numbers.behindMs));
    return analyticsAnswer(numbers, now);
  });

  const ofRange = {
    operationId: "getRangeAnalytics",
    summary: "Read the analytics of a link within a range of time",
    description: RANGE,
    ...common,
    querystring: RangeParameters.extend({ domain_id: DomainIdQuery }),
    response: { 200: RangeAnalyticsSchema, ...apiErrors(400, 401, 402, 403, 404) },
  };
  app.get("/api/v1/analytics/:slug/range", { schema: ofRange }, async (request) => {
    const { domain_id: domainId, ...parameters } = request.query;
    const { caller, params } = request;
    requireDeveloper(caller.tier, "Ranges of analytics");
    const range = parseRange(parameters);
    const link = await ownLink(deps, caller, { ...params, ...request.query });
    const now = deps.clock();
    const asked = { ...range, zone: range.zone.name };
    const numbers = await deps.logReader.linkNumbers(link, asked, now.getTime(), request.signal);
    const at = range.asOf && "time" in range.asOf ? new Date(range.asOf.time) : now;
    return rangeAnswer(numbers, range, await statusOf({ ...deps, clock: () => at }, numbers.link));
  });
}
