// GET and POST /api/v1/saved-filters, DELETE /api/v1/saved-filters/{name}: the filters of the list of links that the account
// keeps, which its people see above their list and on their dashboard.
import { z } from "zod";
import {
  FILTER_NAME_LENGTH,
  forgetFilter,
  keepFilter,
  queryOfFilter,
  savedFiltersOf,
} from "../../commands/links/saved-filters.ts";
import type { SavedFilter } from "../../events/accounts/account-events.ts";
import { DEFAULT_DOMAIN } from "../../events/vocabulary.ts";
import { UTC } from "../../queries/analytics/time-zone.ts";
import { madeBetween } from "../../queries/links/list-links.ts";
import { type Api, contextOf } from "../fastify.ts";
import { apiErrors } from "../schemas.ts";
import type { LifeDeps } from "./life-routes.ts";
import { LinkFilterQuery } from "./list-route.ts";

const name = z.string().meta({ examples: ["Spring in Germany"] });
const SavedFilterAnswer = z
  .object({
    name,
    filter: z
      .record(z.string(), z.string())
      .meta({ description: "Parameters of `GET /api/v1/links`", examples: [{ tag: "spring" }] }),
  })
  .meta({ id: "SavedFilter" });
const NewFilter = LinkFilterQuery.extend({
  name: name.max(4 * FILTER_NAME_LENGTH),
  // As the portal's list knows them: it would show all links for any other.
  domain_id: z
    .union([z.literal(DEFAULT_DOMAIN), z.uuid().toLowerCase()])
    .optional()
    .meta({ description: "Only on this custom domain, or with `default` on the host of the service" }),
}).meta({ id: "NewSavedFilter" });

export function savedFilterRoutes(app: Api, deps: LifeDeps): void {
  const list = {
    operationId: "listSavedFilters",
    summary: "List the account's saved filters",
    description: "Give the members of `filter` as parameters to `GET /api/v1/links`, with `scope=account`.",
    tags: ["Links"],
    response: { 200: z.object({ filters: z.array(SavedFilterAnswer) }), ...apiErrors(401) },
  };
  app.get("/api/v1/saved-filters", { schema: list }, async (request) => {
    const saved = await savedFiltersOf(deps.links, request.caller.accountId);
    return { filters: Array.from(saved, answerOf) };
  });

  const save = {
    operationId: "saveFilter",
    summary: "Save a filter of the list of links",
    description: "One of the same name is replaced.",
    tags: ["Links"],
    body: NewFilter,
    response: { 201: SavedFilterAnswer, ...apiErrors(400, 401, 409) },
  };
  app.post("/api/v1/saved-filters", { schema: save }, async (request, reply) => {
    madeBetween(request.body, UTC);
    const { accountId } = request.caller;
    const saved = await keepFilter(deps.links, contextOf(request), accountId, request.body);
    return reply.code(201).send(answerOf([saved.name, saved.filter]));
  });

  const remove = {
    operationId: "removeSavedFilter",
    summary: "Remove a saved filter",
    tags: ["Links"],
    params: z.object({ name }),
    response: { 200: z.object({ name }), ...apiErrors(400, 401, 404, 409) },
  };
  app.delete("/api/v1/saved-filters/:name", { schema: remove }, async (request) => {
    const { name } = request.params;
    await forgetFilter(deps.links, contextOf(request), request.caller.accountId, name);
    return { name };
  });
}

function answerOf([name, filter]: readonly [name: string, filter: SavedFilter]) {
  return { name, filter: { ...queryOfFilter(filter) } as Record<string, string> };
}
