// POST /api/v1/shorten and /api/v1/shorten/bulk: routes and schemas of createLink and createLinksInBulk, which hold the
// rules (interface, part 4).
import { createLinksInBulk } from "../commands/links/bulk/bulk-requests.ts";
import { type CreateLinkDeps, createLink } from "../commands/links/create-link.ts";
import { LinkObject, linkObject } from "../queries/links/link-object.ts";
import { type Api, contextOf } from "./fastify.ts";
import { bulkAnswer, readItems } from "./links/bulk-answer.ts";
import { ShortenRequest } from "./links/link-requests.ts";
import { apiErrors, BulkAnswerSchema, BulkRequestSchema } from "./schemas.ts";

export function shortenRoute(app: Api, links: CreateLinkDeps): void {
  const schema = {
    operationId: "shorten",
    summary: "Create a short link",
    description: "On the service's own domain, or on a verified and active custom domain (Developer tier).",
    tags: ["Links"],
    body: ShortenRequest,
    response: {
      200: LinkObject.describe("With `find_existing`: the link that there was already"),
      201: LinkObject.describe("The link"),
      ...apiErrors(400, 401, 402, 409, 422),
    },
  };
  app.post("/api/v1/shorten", { schema }, async (request, reply) => {
    const options = { idempotency: request.keyed?.kept.seed };
    const context = contextOf(request);
    const { link, isNew } = await createLink(links, context, request.caller, request.body, options);
    return reply.code(isNew ? 201 : 200).send(linkObject(link, links.baseUrl));
  });
}

/** 201 also when items fail. */
export function shortenInBulkRoute(app: Api, links: CreateLinkDeps): void {
  const schema = {
    operationId: "shortenInBulk",
    summary: "Create up to 100 short links",
    description:
      "Developer tier. One bad item never stops the others. Counts as one request against the limit. 503 or 500 only " +
      "when nothing was created and the service failed in an item: repeat the request.",
    tags: ["Links"],
    body: BulkRequestSchema,
    response: {
      201: BulkAnswerSchema.describe("What became of each item"),
      ...apiErrors(400, 401, 402, 409),
    },
  };
  app.post("/api/v1/shorten/bulk", { schema }, async (request, reply) => {
    const options = { idempotency: request.keyed?.kept.seed };
    const context = contextOf(request);
    const items = await readItems(request.body.links, ShortenRequest);
    const outcome = await createLinksInBulk(links, context, request.caller, items, options);
    const answer = bulkAnswer(request, outcome, { named: "url", failed: "Failed to create the short link" });
    const results = outcome.results.map(({ index, result: { link, isNew } }) => {
      const { qr_download_url: _, ...shown } = linkObject(link, links.baseUrl);
      return { index, ...shown, ...(!isNew && { existing: true as const }) };
    });
    const created = outcome.results.filter(({ result }) => result.isNew).length;
    return reply.code(201).send({ ...answer, created, results });
  });
}
