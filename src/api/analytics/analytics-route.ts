// GET /api/v1/analytics/{slug}: route and schemas of linkAnalytics (interface, part 4), and of ranges of time.
import { z } from "zod";
import { requireDeveloper } from "../../commands/caller.ts";
import { type AnalyticsDeps, analytics } from "../../queries/analytics/analytics.ts";
import { parseRange } from "../../queries/analytics/range.ts";
import { findOwnLink, type ReadableLinkDeps } from "../../queries/links/find-link.ts";
import type { Api } from "../fastify.ts";
import { AnalyticsSchema, apiErrors, SlugParams } from "../schemas.ts";
import { analyticsAnswer, rangeAnswer } from "./answers.ts";
import { AnalyticsQuery, RangeAnalyticsSchema } from "./range-schema.ts";

type Deps = AnalyticsDeps & ReadableLinkDeps & { clock: () => Date };

const DESCRIPTION = `Any link created by any of the caller's keys may be read; another user's link gives 403.

With any of \`from\`, \`to\`, \`interval\`, \`timezone\`, \`kind\` and \`as_of\` the answer is a RangeAnalytics object:
series, totals, breakdowns and daily visitors of that range of time, or as they stood at an earlier time. The sums are
exact: ranges that follow each other add up to the whole. Developer tier.

Without them the headers \`X-As-Of-Position\` and \`X-Behind-Ms\` say up to which position of the log all clicks are
counted, and how long ago the first one after it was recorded.`;

export function analyticsRoute(app: Api, deps: Deps): void {
  const schema = {
    operationId: "getAnalytics",
    summary: "Read the analytics of a link",
    description: DESCRIPTION,
    tags: ["Analytics"],
    params: SlugParams,
    querystring: AnalyticsQuery,
    response: {
      200: z.union([AnalyticsSchema, RangeAnalyticsSchema]),
      ...apiErrors(400, 401, 402, 403, 404),
    },
  };
  const ask = analytics(deps);
  app.get("/api/v1/analytics/:slug", { schema }, async (request, reply) => {
    const { domain_id: domainId, ...given } = request.query;
    const isRange = Object.values(given).some((value) => value !== undefined);
    const { caller, params } = request;
    if (isRange) requireDeveloper(caller.tier, "Ranges of analytics");
    const range = isRange ? parseRange(given) : undefined;
    const now = deps.clock();
    const link = await findOwnLink(deps, caller, params.slug, domainId);
    const found = await ask.ofLink(link, range, now);
    if (range) return rangeAnswer(found, range);
    // In headers, as the body is what the interface says.
    reply.header("x-as-of-position", found.position).header("x-behind-ms", String(found.behindMs));
    return analyticsAnswer(found, now);
  });
}
