// GET /api/v1/analytics/{slug}/changes, and /api/v1/changes for the whole account: why a number changed between two moments.
import { z } from "zod";
import { type Caller, requireDeveloper } from "../../commands/caller.ts";
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import { changesRow, REASONS } from "../../queries/analytics/changes/changes-of-numbers.ts";
import { changesRequest } from "../../queries/analytics/changes/changes-request.ts";
import { type CurrentLinkDeps, ownLink } from "../../queries/links/find-link.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, DomainIdQuery, SlugParams, time } from "../schemas.ts";

type Deps = CurrentLinkDeps & {
  logReader: Pick<LogReader, "changesOfNumbers">;
  clock: () => Date;
};

const text = z.string().max(100);
const Parameters = z.object({
  since: text.meta({
    description:
      "The earlier moment: a time in ISO 8601, or a position of the log such as `as_of_position` of another answer",
    examples: ["2026-11-01T00:00:00Z"],
  }),
  until: text.optional().meta({ description: "The later moment, likewise. Default: now" }),
  from: text.optional().meta({ description: "Only hits that happened at or after this time, ISO 8601" }),
  to: text.optional().meta({ description: "Only hits that happened before this time" }),
  timezone: text.optional().meta({ description: "Of times without an offset. Default: UTC" }),
});

const Moment = z.object({ position: z.string(), time: time.nullable() });
const Hits = z.object({ total: z.int(), ...Object.fromEntries(CLICK_KINDS.map((kind) => [kind, z.int()])) });
const Act = z.object({ at: time, by: z.enum(["key", "person", "operator", "system"]) });
const rulesName = z.string().nullable().meta({
  description: "The rules that told people from programs; null for those that each hit was recorded under",
});

const ChangesSchema = z
  .object({
    since: Moment,
    until: Moment,
    before: Hits.describe("As they counted at `since`"),
    after: Hits.describe("As they counted at `until`: `before` and all changes together"),
    changes: z.array(
      Hits.extend({
        reason: z.enum(REASONS).meta({
          description:
            "`added`: happened and recorded in between; `counted_late`: happened before `since`, recorded after it; " +
            "`withdrawn`, `restored`: by a withdrawal; `reclassified`: another kind by other rules",
        }),
        withdrawal: z
          .object({
            withdrawal_id: z.string(),
            link: z.string(),
            reason: z.string(),
            withdrawn: Act,
            restored: Act.nullable(),
          })
          .optional(),
        from_kind: z.enum(CLICK_KINDS).optional(),
        to_kind: z.enum(CLICK_KINDS).optional(),
        rules: z.object({ from: rulesName, to: rulesName }).optional(),
      }),
    ),
  })
  .meta({ id: "NumberChanges" });

const DESCRIPTION = `\`range_too_large\` says what to narrow. Developer tier.`;

export function changesRoutes(app: Api, deps: Deps): void {
  type Asking = { caller: Caller; signal: AbortSignal };
  const answer = async (
    { caller, signal }: Asking,
    parameters: z.infer<typeof Parameters>,
    link?: string,
  ) => {
    const request = await changesRequest(deps, parameters, deps.clock());
    const of = { accountId: caller.accountId, filters: link === undefined ? {} : { link: [link] } };
    return changesRow(await deps.logReader.changesOfNumbers({ ...of, ...request }, signal));
  };
  const common = {
    tags: ["Analytics"],
    description: DESCRIPTION,
    response: { 200: ChangesSchema, ...apiErrors(400, 401, 402, 403, 404) },
  };
  const ofLink = {
    operationId: "getLinkChanges",
    summary: "Read why the numbers of a link changed",
    ...common,
    params: SlugParams,
    querystring: Parameters.extend({ domain_id: DomainIdQuery }),
  };
  app.get("/api/v1/analytics/:slug/changes", { schema: ofLink }, async (request) => {
    const { caller, params, query } = request;
    requireDeveloper(caller.tier, "Changes of numbers");
    const { _id } = await ownLink(deps, caller, { ...params, ...query });
    return await answer(request, query, _id);
  });
  const ofAccount = {
    operationId: "getAccountChanges",
    summary: "Read why the numbers of the account changed",
    ...common,
    querystring: Parameters,
  };
  app.get("/api/v1/changes", { schema: ofAccount }, async (request) => {
    requireDeveloper(request.caller.tier, "Changes of numbers");
    return await answer(request, request.query);
  });
}
