// GET /api/v1/links/{slug}/history: route and schemas of linkHistory, a page at a time.
import { z } from "zod";
import { behindCursor, pageOf } from "../../queries/cursor.ts";
import { type CurrentLinkDeps, ownLink } from "../../queries/links/find-link.ts";
import { type LinkStep, linkHistory } from "../../queries/links/link-history.ts";
import { ActorSchema, PositionSchema } from "../events/event-schemas.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, DomainIdQuery, nextCursor, SlugParams, time } from "../schemas.ts";

const HistoryEntry = z
  .object({
    type: z.string().meta({
      description: "The event's type; `Unreadable` for one that can't be read",
      examples: ["LinkOptionsChanged"],
    }),
    at: time,
    actor: ActorSchema,
    revision: z.int().optional().meta({ description: "The link's, from this event on; not of its clicks" }),
    position: PositionSchema,
    changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })).meta({
      description: "By the names of requests: what it was and what it is from then on, null for nothing",
      examples: [{ title: { from: null, to: "Spring sale" } }],
    }),
    blocked: z.object({ reason: z.string(), legal: z.boolean() }).optional(),
    withdrawn: z
      .object({ clicks: z.int(), reason: z.string() })
      .optional()
      .meta({ description: "Clicks that the operator took out of the numbers" }),
  })
  .meta({ id: "HistoryEntry" });

const HistoryPage = z
  .object({
    history: z.array(HistoryEntry),
    total: z.int().meta({ description: "Entries, on all pages" }),
    next_cursor: nextCursor,
  })
  .meta({ id: "HistoryPage" });

export function historyRoute(app: Api, deps: CurrentLinkDeps): void {
  const schema = {
    operationId: "getLinkHistory",
    summary: "Read what happened to one link",
    description:
      "Newest first, as of now; of deleted links, too. Every change is an event: who did it, when, and what it changed.",
    tags: ["Links"],
    params: SlugParams,
    querystring: z.object({
      domain_id: DomainIdQuery,
      limit: z.coerce.number().int().min(1).max(100).default(50),
      cursor: z.string().max(2000).optional(),
    }),
    response: { 200: HistoryPage, ...apiErrors(400, 401, 403, 404) },
  };
  app.get("/api/v1/links/:slug/history", { schema }, async (request) => {
    const { caller, params, query } = request;
    const { after } = behindCursor(query.cursor);
    const { host, slug } = await ownLink(deps, caller, { ...params, ...query }, { orDeleted: true });
    const { history } = await linkHistory(deps, caller.accountId, host, slug);
    const rest = history.filter(({ position }) => after === undefined || position < after.value);
    const entries = rest.slice(-query.limit - 1).reverse();
    const { page, next } = pageOf(entries, query, ({ position }) => ({ value: position, id: "" }));
    return { history: page.map(entryOf), total: history.length, next_cursor: next };
  });
}

function entryOf({ type, at, actor, revision, position, changes, blocked, withdrawn }: LinkStep) {
  const isOfClicks = type === "ClicksWithdrawn" || type === "ClicksRestored";
  return {
    type,
    at,
    actor,
    ...(!isOfClicks && { revision }),
    position,
    changes,
    ...(blocked && { blocked: { reason: blocked.reason, legal: blocked.legal } }),
    ...(withdrawn && { withdrawn }),
  };
}
