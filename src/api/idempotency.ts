// Idempotency-Key: repeating a request returns the first answer, also when a crash lost that answer before it was sent.
import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { Refused } from "../commands/refusals.ts";
import type { Secrets } from "../stores/secrets/port.ts";

/** `record`: the name of what is kept. */
export type KeyedRequest = { record: string; kept: KeyRecord };

export type Idempotency = ReturnType<typeof idempotency>;

/**
 * `seed`: slug and event ids are derived from it, so that repeated attempts of one request create the same link,
 * and change it once.
 */
type KeyRecord = {
  bodyHash: string;
  seed: string;
  expiresAt: string;
  answer?: { status: number; body: string; etag?: string };
};
type Deps = { secrets: Secrets; clock: () => Date; newId: () => string };

const KEPT_MS = 24 * 3_600_000;
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** For the OpenAPI document alone: `preHandler` validates it, with an error code of its own. */
const Header = z.object({
  "idempotency-key": z
    .string()
    .optional()
    .meta({
      description:
        "1 to 255 printable ASCII characters; the same key and body within 24 hours is the same answer",
      examples: ["order-4711"],
    }),
});

/** Where the route changes something; as it is registered. */
export function takeIdempotencyKey(
  route: { method: string | string[]; schema?: object },
  { preHandler, onSend }: Idempotency,
): void {
  if (route.method === "GET" || route.method === "HEAD") return;
  const { headers = z.object({}), ...schema } = (route.schema ?? {}) as { headers?: z.ZodObject };
  Object.assign(route, { schema: { ...schema, headers: Header.extend(headers.shape) }, preHandler, onSend });
}

/**
 * A route's hooks: `preHandler` replays a stored answer; `onSend` stores a successful one, and forgets the key of a refused
 * request, which can be corrected and sent under the same key. Of another failure the outcome is unknown: it keeps the key.
 */
export function idempotency(deps: Deps) {
  return {
    async preHandler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
      const key = request.headers["idempotency-key"];
      if (key === undefined) return undefined;
      if (typeof key !== "string" || !PRINTABLE.test(key))
        throw new Refused(
          "invalid_idempotency_key",
          "Idempotency-Key must be 1 to 255 printable ASCII characters",
        );
      const now = deps.clock();
      const { method, url } = request;
      // The whole address: it says which link is meant.
      const record = `idempotency/${hash("sha256", `${request.caller.keyId} ${method} ${url} ${key}`)}`;
      const bodyHash = hashOf(request.body);
      const expiresAt = new Date(now.getTime() + KEPT_MS).toISOString();
      const wanted: KeyRecord = { bodyHash, seed: deps.newId(), expiresAt };
      const kept = (await deps.secrets.putIfAbsent(record, { value: wanted, expiresAt }, now)) as KeyRecord;
      if (kept.bodyHash !== bodyHash) throw new Refused("idempotency_key_reused");
      request.keyed = { record, kept };
      if (!kept.answer) return undefined;
      const { status, etag } = kept.answer;
      if (etag !== undefined) reply.header("etag", etag);
      return reply
        .code(status)
        .header("idempotency-replayed", "true")
        .type("application/json; charset=utf-8")
        .send(kept.answer.body);
    },

    /**
     * What `make` decides before anything is changed: a request that is repeated, as its answer was lost, goes on with what it
     * decided first. @throws what `make` throws
     */
    async planned<T>({ keyed }: FastifyRequest, make: () => Promise<T>): Promise<T> {
      if (!keyed) return await make();
      const record = planOf(keyed.record);
      const storedPlan = async () => (await deps.secrets.get(record, deps.clock())) as T | undefined;
      const earlier = await storedPlan();
      if (earlier !== undefined) return earlier;
      try {
        const plan = { value: await make(), expiresAt: keyed.kept.expiresAt };
        return (await deps.secrets.putIfAbsent(record, plan, deps.clock())) as T;
      } catch (error) {
        // The same request, sent twice at once, has begun in between.
        const other = await storedPlan();
        if (other !== undefined) return other;
        throw error;
      }
    },

    async onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
      const { keyed } = request;
      if (!keyed || keyed.kept.answer || typeof payload !== "string") return payload;
      const { record, kept } = keyed;
      const { statusCode } = reply;
      if (statusCode >= 400 && statusCode < 500)
        for (const name of [record, planOf(record)]) await deps.secrets.delete(name);
      if (statusCode < 200 || statusCode >= 300) return payload;
      const etag = reply.getHeader("etag");
      const answer = {
        status: reply.statusCode,
        body: payload,
        ...(typeof etag === "string" && { etag }),
      };
      const value: KeyRecord = { ...kept, answer };
      await deps.secrets.put(record, { value, expiresAt: kept.expiresAt });
      return payload;
    },
  };
}

/** The name of what a keyed request has decided to do. */
function planOf(record: string): string {
  return `${record}/plan`;
}

/** JSON.stringify recurses where JSON.parse does not. @throws invalid_request */
function hashOf(body: unknown): string {
  try {
    return hash("sha256", JSON.stringify(body ?? null));
  } catch {
    throw new Refused("invalid_request", "The body is nested too deeply");
  }
}
