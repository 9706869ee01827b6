// POST /api/v1/shorten: route and schemas of createLink, which holds the rules (interface, part 4).
import { type CreateLinkDeps, createLink } from "../commands/links/create-link.ts";
import { LinkObject, ShortenRequest } from "../commands/links/link-object.ts";
import { apiErrors } from "./api-errors.ts";
import { commandContext } from "./command-context.ts";
import type { Api } from "./fastify.ts";
import type { Idempotency } from "./idempotency.ts";
import { IdempotencyHeader } from "./schemas.ts";

export type ShortenDeps = {
  links: CreateLinkDeps;
  idempotency: Idempotency;
};

export function shortenRoute(app: Api, deps: ShortenDeps): void {
  const { preHandler, onSend } = deps.idempotency;
  const schema = {
    operationId: "shorten",
    summary: "Create a short link",
    description: "On the service's own domain, or on a verified and active custom domain (Developer tier).",
    tags: ["Links"],
    headers: IdempotencyHeader,
    body: ShortenRequest,
    response: { 201: LinkObject.describe("The link"), ...apiErrors(400, 401, 402, 409, 422) },
  };
  app.post("/api/v1/shorten", { schema, preHandler, onSend }, async (request, reply) => {
    const options = { idempotency: request.keyed?.kept.seed };
    const context = commandContext(request);
    const { link } = await createLink(deps.links, context, request.caller, request.body, options);
    return reply.code(201).send(link);
  });
}
