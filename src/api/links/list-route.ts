// GET /api/v1/links: route and schemas of listLinks (interface, part 4).
import { z } from "zod";
import { Refused } from "../../commands/refusals.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { LINK_STATUSES } from "../../events/links/link-status.ts";
import { LINK_MAKERS } from "../../events/vocabulary.ts";
import { UTC } from "../../queries/analytics/time-zone.ts";
import {
  LINK_ORDERS,
  LINK_SCOPES,
  type ListLinksDeps,
  listLinks,
  madeBetween,
} from "../../queries/links/list-links.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, LinkPageSchema } from "../schemas.ts";

const time = z.string().max(100).optional();

/** What a list of links is filtered by, and what an account may keep of it (saved-filter-routes.ts). */
export const LinkFilterQuery = z.object({
  q: z
    .string()
    .max(200)
    .optional()
    .meta({
      description:
        "Words, each a part of the short URL, long URL, title, tags, external id or comments; in any case, with or without " +
        "accents",
    }),
  domain_id: z.string().max(100).toLowerCase().optional().meta({
    description: "Only on this custom domain, or with `default` on the host of the service",
  }),
  from: time.meta({
    description: "Created at or after this time, ISO 8601: with an offset, else in UTC",
    examples: ["2026-11-01"],
  }),
  to: time.meta({ description: "Created before this time", examples: ["2026-12-01"] }),
  tag: z
    .string()
    .normalize("NFC")
    .max(OPTION_LIMITS.tag)
    .optional()
    .meta({ description: "With this tag, in this case", examples: ["newsletter"] }),
  status: z
    .enum(LINK_STATUSES)
    .optional()
    .meta({ description: "Links with this status now. Default: all that are not deleted" }),
  made_by: z
    .union([z.enum(LINK_MAKERS), z.uuid()])
    .optional()
    .meta({
      description:
        "`api`: by programs; `portal`: in the portal, or by an import; the id of an API key or a member: by this one. The others than " +
        "this key's need `scope=account`",
      examples: ["portal"],
    }),
});

/**
 * `writesAreReadable`: read-your-writes; resolves when links created so far, by any process, are in the documents.
 */
export function listLinksRoute(
  app: Api,
  deps: ListLinksDeps & { writesAreReadable: () => Promise<boolean> },
): void {
  const schema = {
    operationId: "listLinks",
    summary: "List the links created with the caller's key",
    description:
      "Newest first, each with its status. Give `next_cursor` of one page as `cursor` to get the next. With `scope=account` the " +
      "links of all keys and of the portal.",
    tags: ["Links"],
    querystring: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(50),
      cursor: z.string().max(2000).optional(),
      ...LinkFilterQuery.shape,
      external_id: z
        .string()
        .normalize("NFC")
        .max(OPTION_LIMITS.externalId)
        .optional()
        .meta({ description: "The one with this external id", examples: ["order-4711"] }),
      sort: z.enum(LINK_ORDERS).optional().meta({ description: "Default: `-created_at`, newest first" }),
      scope: z.enum(LINK_SCOPES).optional().meta({
        description: "`key` (default): links of this key. `account`: of all keys and of the portal",
      }),
    }),
    response: { 200: LinkPageSchema, ...apiErrors(400, 401) },
  };
  app.get("/api/v1/links", { schema }, async (request) => {
    const { from, to, ...options } = request.query;
    const range = madeBetween({ from, to }, UTC);
    if (!(await deps.writesAreReadable())) throw new Refused("links_behind");
    return listLinks(deps, request.caller, { ...options, ...range });
  });
}
