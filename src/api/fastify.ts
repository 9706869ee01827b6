// The HTTP layer's additions to Fastify's types: zod schemas, and the caller on the request.
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Caller, CommandContext } from "../commands/caller.ts";
import type { KeyScope } from "../events/vocabulary.ts";
import type { KeyedRequest } from "./idempotency.ts";

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a route that requires a key asks of it (route-scopes.ts). */
    scope?: KeyScope;
  }
  interface FastifyRequest {
    /** Set by the key guard's onRequest hook on routes that require a key. */
    caller: Caller & { keyId: string };
    /** Present when the request came with an Idempotency-Key. */
    keyed: KeyedRequest | undefined;
  }
}

/** The context of a request with a key, for the metadata of the events. */
export function contextOf(request: FastifyRequest): CommandContext {
  return { requestId: request.id, actor: { type: "key", id: request.caller.keyId } };
}
