// POST /api/v1/shorten/bulk: route and schemas of createLinksInBulk; 201 also when items fail (interface, part 4).
import { type BulkDeps, createLinksInBulk } from "../commands/links/create-links-in-bulk.ts";
import { apiErrors } from "./api-errors.ts";
import { commandContext } from "./command-context.ts";
import type { Api } from "./fastify.ts";
import { BulkAnswerSchema, BulkRequestSchema, IdempotencyHeader } from "./schemas.ts";
import type { ShortenDeps } from "./shorten.ts";

export function shortenInBulkRoute(app: Api, deps: ShortenDeps & { links: BulkDeps }): void {
  const { preHandler, onSend } = deps.idempotency;
  const schema = {
    operationId: "shortenInBulk",
    summary: "Create up to 100 short links",
    description:
      "Developer tier. One bad item never stops the others. Counts as one request against the limit. 503 or 500 only " +
      "when nothing was created and the service failed in an item: repeat the request.",
    tags: ["Links"],
    headers: IdempotencyHeader,
    body: BulkRequestSchema,
    response: {
      201: BulkAnswerSchema.describe("What became of each item"),
      ...apiErrors(400, 401, 402, 409),
    },
  };
  app.post("/api/v1/shorten/bulk", { schema, preHandler, onSend }, async (request, reply) => {
    const options = { idempotency: request.keyed?.kept.seed };
    const context = commandContext(request);
    const { links } = request.body;
    const { bulk, isFinal } = await createLinksInBulk(deps.links, context, request.caller, links, options);
    // Not kept for the Idempotency-Key, so that a repeated request makes the items in which the service failed.
    if (!isFinal) request.keyed = undefined;
    return reply.code(201).send(bulk);
  });
}
