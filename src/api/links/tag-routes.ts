// GET /api/v1/tags and PATCH /api/v1/tags/{tag}: the tags of an account; one is renamed, merged with another, or coloured.
import { z } from "zod";
import { coloursOf, colourTag, passTagColour } from "../../commands/account/tag-colours.ts";
import { acceptTag, RETAGGED_AT_A_TIME, retagLinks } from "../../commands/links/tags.ts";
import { Refused } from "../../commands/refusals.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { hasDeveloperFeatures, TAG_COLOURS } from "../../events/vocabulary.ts";
import { accountLinkKeys } from "../../queries/links/list-links.ts";
import { listTags, refuseTag } from "../../queries/links/tags.ts";
import { type Api, contextOf } from "../fastify.ts";
import { httpErrorOf } from "../http-errors.ts";
import type { Idempotency } from "../idempotency.ts";
import { apiErrors, nextCursor } from "../schemas.ts";
import type { LifeDeps } from "./life-routes.ts";

const tag = z.string().meta({ examples: ["spring"] });
const colour = z.enum(TAG_COLOURS).nullable();
const Tag = z
  .object({
    tag,
    colour,
    links: z.int().meta({ description: "Links that have it, without deleted ones" }),
    clicks: z.int().optional().meta({
      description:
        "Clicks of people on these links; absent where the account has more than 5,000 links: ask `/analytics`",
    }),
  })
  .meta({ id: "Tag" });

const TagPatch = z
  .strictObject({
    name: z
      .string()
      .max(4 * OPTION_LIMITS.tag)
      .optional()
      .meta({ description: "The new name", examples: ["spring sale"] }),
    merge: z
      .boolean()
      .optional()
      .meta({ description: "With true the new name may be another tag's: the two become one" }),
    colour: colour.optional().meta({ description: "null takes it away", examples: ["green"] }),
  })
  .meta({ id: "TagPatch" });

const TagChanged = z
  .object({
    tag: z.string().meta({ description: "Its name now" }),
    colour,
    changed: z.int().meta({ description: "Links that have the new name by this request" }),
    failed: z.int(),
    errors: z.array(z.object({ link: z.string(), error: z.string(), code: z.string() })),
    next_cursor: nextCursor.meta({
      description: "Not null: links are left. Repeat the request with it as `cursor`",
    }),
  })
  .meta({ id: "TagChanged" });

/** `writesAreReadable`: as of listLinksRoute. */
export function tagRoutes(
  app: Api,
  deps: LifeDeps & { idempotency: Idempotency; writesAreReadable: () => Promise<boolean> },
): void {
  const list = {
    operationId: "listTags",
    summary: "List the account's tags",
    description: "Of all its links, whoever made them; those of the most links first.",
    tags: ["Links"],
    querystring: z.object({
      q: z.string().max(200).optional().meta({ description: "Words, each a part of the tag" }),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
    }),
    response: {
      200: z.object({ tags: z.array(Tag), total: z.int().meta({ description: "Tags that match" }) }),
      ...apiErrors(400, 401),
    },
  };
  app.get("/api/v1/tags", { schema: list }, async (request) => {
    if (!(await deps.writesAreReadable())) throw new Refused("links_behind");
    const { accountId } = request.caller;
    return await listTags(deps, accountId, await coloursOf(deps.links, accountId), request.query);
  });

  const change = {
    operationId: "changeTag",
    summary: "Rename, merge or colour a tag",
    description:
      `A new name is a change of each link that has the tag, as if it were made alone: of ${RETAGGED_AT_A_TIME} links a request, without the Developer tier of one, and ` +
      "`next_cursor` goes on with the others. What was ended or failed is repeated with its `Idempotency-Key`, or with `merge`: nothing is done twice, and without a key 404 says that no link is left. Deleted links keep " +
      "the old name.",
    tags: ["Links"],
    params: z.object({ tag }),
    querystring: z.object({ cursor: z.string().max(2_000).optional() }),
    body: TagPatch,
    response: { 200: TagChanged, ...apiErrors(400, 401, 404, 409) },
  };
  app.patch("/api/v1/tags/:tag", { schema: change }, async (request) => {
    const { caller, params, query, body } = request;
    const { accountId } = caller;
    const context = contextOf(request);
    const name = body.name === undefined ? params.tag : acceptTag(body.name);
    const isRenamed = name !== params.tag;
    if (!(await deps.writesAreReadable())) throw new Refused("links_behind");
    const { keys, next } = await deps.idempotency.planned(request, async () => {
      if (!isRenamed || query.cursor === undefined)
        await refuseTag(deps, accountId, params.tag, { name, merge: body.merge });
      const limit = hasDeveloperFeatures(caller.tier) ? RETAGGED_AT_A_TIME : 1;
      const part = { tag: params.tag, after: query.cursor, limit };
      return isRenamed ? await accountLinkKeys(deps, accountId, part) : { keys: [], next: null };
    });
    const renaming = { from: params.tag, to: name };
    const { results, failures } = await retagLinks(deps.links, context, accountId, keys, renaming);
    if (results.length > 0 && next === null) await passTagColour(deps.links, context, accountId, renaming);
    if (body.colour !== undefined) await colourTag(deps.links, context, accountId, name, body.colour);
    return {
      tag: name,
      colour: (await coloursOf(deps.links, accountId)).get(name) ?? null,
      changed: results.length,
      failed: failures.length,
      errors: failures.map(({ item: link, error }) => {
        const { message, code } = httpErrorOf(error);
        return { link, error: message, code };
      }),
      next_cursor: next,
    };
  });
}
