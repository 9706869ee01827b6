// What the HTTP layer adds to Fastify's types, in one place: schemas are zod's, requests carry their caller.
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Caller } from "../commands/caller.ts";
import type { KeyedRequest } from "./idempotency.ts";

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the key guard before any route that needs it. */
    caller: Caller & { keyId: string };
    /** Present when the request came with an Idempotency-Key. */
    keyed: KeyedRequest | undefined;
  }
}
