// GET /api/v1/analytics/{slug}: route and schemas of linkAnalytics (interface, part 4).
import { z } from "zod";
import { type ClicksAsOfDeps, clicksAsOf } from "../queries/analytics/clicks-as-of.ts";
import { type LinkAnalyticsDeps, linkAnalytics } from "../queries/analytics/link-analytics.ts";
import { apiErrors } from "./api-errors.ts";
import type { Api } from "./fastify.ts";
import { AnalyticsSchema, DomainIdQuery, SlugParams } from "./schemas.ts";

/** `writesAreReadable`: see links.ts. */
export type AnalyticsDeps = LinkAnalyticsDeps &
  ClicksAsOfDeps & {
    clock: () => Date;
    writesAreReadable: () => Promise<void>;
  };

export function analyticsRoute(app: Api, deps: AnalyticsDeps): void {
  const schema = {
    operationId: "getAnalytics",
    summary: "Read the analytics of a link",
    description: "Any link created by any of the caller's keys may be read; another user's link gives 403.",
    tags: ["Analytics"],
    params: SlugParams,
    querystring: z.object({ domain_id: DomainIdQuery }),
    response: { 200: AnalyticsSchema, ...apiErrors(400, 401, 403, 404) },
  };
  const asOf = clicksAsOf(deps);
  app.get("/api/v1/analytics/:slug", { schema }, async (request) => {
    const { domain_id: domainId } = request.query;
    await deps.writesAreReadable();
    const now = deps.clock();
    const as_of = await asOf(now);
    const analytics = await linkAnalytics(deps, request.caller, request.params.slug, { domainId }, now);
    return as_of === undefined ? analytics : { ...analytics, as_of };
  });
}
