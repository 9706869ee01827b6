// Who may use the console: a signed-in operator, or on its API a request with ADMIN_TOKEN; both with limits.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { type RateLimits, rateLimitExceeded } from "../../api/limits/rate-limit.ts";
import { bearerToken, isAdminToken } from "../../api/operations/operator-request.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Operating, PortalDeps } from "../portal-deps.ts";
import type { OperatorSessions } from "./operator-session.ts";

export type ConsoleDeps = PortalDeps & Operating & { operators: OperatorSessions };

/** Per hour and session: a page that shows progress asks once a second. */
const MOST_REQUESTS = 20_000;

/** How long clicks are searched for one answer, on the page and as JSON. */
export const CLICK_SEARCH = { searchMs: 2_000 };

type LimitDeps = { rateLimits: RateLimits; clock: () => Date };

/** Of a context that acts as the operator. */
export function operatorContext(request: FastifyRequest): CommandContext {
  return { requestId: request.id, actor: { type: "operator" } };
}

/** Pages: without a session a GET goes to the sign-in and comes back. */
export function operatorPages(app: Api, deps: ConsoleDeps): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.visit.operator) return await countRequest(deps, request);
    const next = request.method === "GET" ? `?next=${encodeURIComponent(request.url)}` : "";
    await reply.redirect(`/admin/sign-in${next}`, 303);
  });
}

/** Routes of the JSON API: a token, or the session of the console. */
export function operatorApi(app: Api, deps: ConsoleDeps): void {
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header("cache-control", "no-store");
    const given = bearerToken(request);
    if (given !== undefined)
      request.visit.operator = (await isAdminToken(deps, request, given))
        ? { sessionId: "token", isToken: true }
        : undefined;
    if (!request.visit.operator) throw new Refused("invalid_admin_token");
    await countRequest(deps, request);
  });
}

async function countRequest({ rateLimits, clock }: LimitDeps, { visit }: FastifyRequest): Promise<void> {
  const now = clock();
  const subject = `operator-requests ${visit.operator?.sessionId ?? ""}`;
  const window = await rateLimits.take(subject, MOST_REQUESTS, now);
  if (!window.granted) throw rateLimitExceeded(window, MOST_REQUESTS, now);
}
