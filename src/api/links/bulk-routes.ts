// PATCH and DELETE /api/v1/links/bulk, and POST /api/v1/links/bulk/delete for clients whose DELETE has no body: routes and schemas of changeLinksInBulk.
import { changeLinksInBulk } from "../../commands/links/bulk/bulk-requests.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { ownLink } from "../../queries/links/find-link.ts";
import { linkDetailsObject } from "../../queries/links/link-object.ts";
import { statusesOf } from "../../queries/links/link-statuses.ts";
import { type Api, contextOf } from "../fastify.ts";
import { apiErrors, bulkAnswerOf, bulkRequestOf } from "../schemas.ts";
import { bulkAnswer, readItems } from "./bulk-answer.ts";
import type { LifeDeps } from "./life-routes.ts";
import { BulkPatchItem, NamedLink } from "./link-requests.ts";

const DESCRIPTION =
  "Developer tier. One bad item never stops the others; items of one link are done one after the other. Counts " +
  "as one request against the limit. 503 or 500 only when nothing was done and the service failed in an item: " +
  "repeat the request. This address is no link's: one with the slug `bulk`, which a custom domain may have, is " +
  "changed as an item.";

const KINDS = {
  update: {
    operationId: "changeLinksInBulk",
    summary: "Change up to 100 links",
    body: bulkRequestOf("BulkPatchRequest", "BulkPatchItem"),
    answer: bulkAnswerOf("BulkPatchAnswer", "updated"),
  },
  delete: {
    operationId: "deleteLinksInBulk",
    summary: "Delete up to 100 links",
    body: bulkRequestOf("BulkDeleteRequest", "NamedLink"),
    answer: bulkAnswerOf("BulkDeleteAnswer", "deleted"),
  },
} as const;

export function changeInBulkRoutes(app: Api, deps: LifeDeps): void {
  const { baseUrl } = deps;
  for (const [wanted, method, path] of [
    ["update", "PATCH", ""],
    ["delete", "DELETE", ""],
    ["delete", "POST", "/delete"],
  ] as const) {
    const { body, answer, operationId, summary } = KINDS[wanted];
    const schema = {
      operationId: method === "POST" ? `${operationId}ByPost` : operationId,
      summary: method === "POST" ? `${summary}, by POST` : summary,
      description: DESCRIPTION,
      tags: ["Links"],
      body,
      response: { 200: answer.describe("What became of each item"), ...apiErrors(400, 401, 402, 409) },
    };
    app.route({
      method,
      url: `/api/v1/links/bulk${path}`,
      schema,
      async handler(request, reply) {
        const { caller } = request;
        const addressOf = (item: { slug: string; domain_id?: string | undefined }) =>
          ownLink(deps, caller, item, { orDeleted: true });
        const changing = { ...deps.links, addressOf };
        const options = { idempotency: request.keyed?.kept.seed };
        const context = contextOf(request);
        const items = await readItems(request.body.links, wanted === "update" ? BulkPatchItem : NamedLink);
        const outcome = await changeLinksInBulk(changing, context, caller, wanted, items, options);
        await deps.changesAreFollowed();
        const answer = bulkAnswer(request, outcome, { named: "slug", failed: "Failed to change the link" });
        const { results } = outcome;
        const links = results.map(({ result }) => result.link);
        const statuses = await statusesOf(deps, links);
        return reply.send({
          ...answer,
          ...(wanted === "update" ? { updated: results.length } : { deleted: results.length }),
          results: results.map(({ index, result: { link } }, n) => ({
            index,
            ...linkDetailsObject(link, statuses[n] as LinkStatus, baseUrl),
          })),
        });
      },
    });
  }
}
