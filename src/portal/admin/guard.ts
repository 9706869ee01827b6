// Who may use the console: a signed-in operator, or on its API a request with ADMIN_TOKEN; both with limits.
import type { FastifyReply, FastifyRequest } from "fastify";
import { RateLimitExceeded } from "../../api/errors.ts";
import type { Api } from "../../api/fastify.ts";
import { lookByAddress, takeByAddress } from "../../api/limits/address-limit.ts";
import { type RateLimits, secondsUntilReset } from "../../api/limits/rate-limit.ts";
import { isSameSecret } from "../../api/operations/operator-request.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { DomainError } from "../../runtime/errors.ts";
import { TooManyTries } from "../auth/throttle.ts";
import type { Operating, PortalDeps } from "../portal-deps.ts";
import type { OperatorSessions } from "./operator-session.ts";

export type ConsoleDeps = PortalDeps & { operating: Operating; operators: OperatorSessions };

/** No token, or a wrong one; which of them is not told. */
export class InvalidAdminToken extends DomainError {
  override readonly code = "invalid_admin_token";
  constructor() {
    super("Sign in at /admin, or send Authorization: Bearer with the ADMIN_TOKEN of this service");
  }
}

/** Per hour and client address. The token has no account to lock out, and 16 characters at least. */
const MOST_TRIES = 15;
/** Per hour and session: a page that shows progress asks once a second. */
const MOST_REQUESTS = 20_000;
const TRIES = "operator-sign-in";

type LimitDeps = { rateLimits: RateLimits; clock: () => Date };

/** Of a context that acts as the operator. */
export function operatorContext(request: FastifyRequest): CommandContext {
  return { requestId: request.id, actor: { type: "operator" } };
}

/** Compares in constant time, and counts the try. @throws TooManyTries */
export async function isAdminToken(
  { operating, ...deps }: LimitDeps & { operating: Pick<Operating, "adminToken"> },
  request: FastifyRequest,
  given: string,
): Promise<boolean> {
  const now = deps.clock();
  const window = await lookByAddress(deps.rateLimits, TRIES, request.ip, MOST_TRIES, now);
  if (window.used >= window.limit || !window.granted)
    throw new TooManyTries(window.limit, secondsUntilReset(window, now));
  if (isSameSecret(given, operating.adminToken)) return true;
  await takeByAddress(deps.rateLimits, TRIES, request.ip, MOST_TRIES, now);
  return false;
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
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (given !== undefined)
      request.visit.operator = (await isAdminToken(deps, request, given))
        ? { sessionId: "token", isToken: true }
        : undefined;
    if (!request.visit.operator) throw new InvalidAdminToken();
    await countRequest(deps, request);
  });
}

async function countRequest({ rateLimits, clock }: LimitDeps, { visit }: FastifyRequest): Promise<void> {
  const now = clock();
  const subject = `operator-requests ${visit.operator?.sessionId ?? ""}`;
  const window = await rateLimits.take(subject, MOST_REQUESTS, now);
  if (!window.granted) throw new RateLimitExceeded(MOST_REQUESTS, secondsUntilReset(window, now));
}
