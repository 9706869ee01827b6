// GET and HEAD /{slug}, and POST for its password (interface, part 4): which link a request asks for. Runs before Fastify, not
// for its CPU time, which is 2 us of 30: redirects are answered while the routes are loaded, and slugs of other hosts are no routes.
import type { IncomingMessage, ServerResponse } from "node:http";
import { RESERVED_WORDS } from "../../commands/links/slug.ts";
import { isRefused } from "../../commands/refusals.ts";
import { DomainError } from "../../runtime/errors.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { LinkLookup } from "../lookup/look-up.ts";
import { postedForm } from "../password/password-form.ts";
import { type Exchange, type FollowDeps, linkFollower, refuse } from "./follow-link.ts";
import { hostResolver } from "./hosts.ts";
import type { Requester } from "./requester.ts";
import { slugTarget } from "./slug-target.ts";

export type RedirectDeps = Omit<FollowDeps, "requester"> & { lookup: Pick<LinkLookup, "peek" | "find"> };

export type RedirectHandlerDeps = RedirectDeps & {
  requester: Requester;
  /** The request id for error answers and log lines. */
  requestIdOf: (request: IncomingMessage) => string;
  log: Pick<Logger, "error">;
};

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * True when the handler has answered the request, or will answer it or call `passOn` with it untouched; false when
 * it is to be passed on now.
 */
export type HandleRequest = (request: IncomingMessage, response: ServerResponse, passOn: Handle) => boolean;

/** A refusal so long after the last one is of another outage. */
const OUTAGE_OVER_MS = 60_000;

const METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "POST"]);

/**
 * Handles every GET and HEAD of one path segment on any host, except reserved words on the base host, and a POST
 * of those to links with a password. Fast path: a cached link whose click is queued is answered synchronously.
 */
export function redirectHandler(deps: RedirectHandlerDeps): HandleRequest {
  const { lookup, requester, stats, now, requestIdOf } = deps;
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  const { follow, answerMissing } = linkFollower({ ...deps, baseHost });
  let lastRefusedAt = Number.NEGATIVE_INFINITY;

  function answer(host: string, slug: string, exchange: Exchange): Promise<void> | undefined {
    const entry = lookup.peek(host, slug);
    if (entry) return follow(entry, exchange);
    return lookup.find(host, slug).then((loaded) => {
      if (loaded) return follow(loaded, exchange);
      stats.notFound += 1;
      return answerMissing(host, exchange);
    });
  }

  /** What a link without a password is sent goes where it would go without the link. */
  async function answerForm(host: string, slug: string, exchange: Exchange, passOn: Handle): Promise<void> {
    const entry = lookup.peek(host, slug) ?? (await lookup.find(host, slug));
    if (entry?.options?.passwordId === undefined) return passOn(exchange.request, exchange.response);
    // A body may take half a minute: the link is answered as it is then.
    await answer(host, slug, { ...exchange, form: await postedForm(exchange.request) });
  }

  /** Answers 503; the cause goes to the log only: one line an outage, without a stack, as many are refused as come. */
  function unavailable(err: unknown, exchange: Exchange): void {
    stats.error += 1;
    const code =
      (["recorder_busy", "too_busy"] as const).find((busy) => isRefused(err, busy)) ?? "store_unavailable";
    if (!(err instanceof DomainError))
      deps.log.error({ err, request_id: exchange.requestId() }, "a short link could not be followed");
    else if (code !== "too_busy") {
      if (now() - lastRefusedAt > OUTAGE_OVER_MS)
        deps.log.error({ code, reason: err.message }, "short links are answered 503");
      lastRefusedAt = now();
    }
    if (exchange.response.headersSent) exchange.response.destroy();
    else refuse(exchange, code);
  }

  return (request, response, passOn) => {
    if (!METHODS.has(request.method)) return false;
    const target = slugTarget(request.url ?? "");
    if (target === undefined) return false;
    const { slug, query } = target;
    const host = hostOf(requester.host(request));
    if (host === baseHost && RESERVED_WORDS.has(slug)) return false;
    const exchange = { request, response, requestId: () => requestIdOf(request), query };
    try {
      const isPost = request.method === "POST";
      const answering = isPost ? answerForm(host, slug, exchange, passOn) : answer(host, slug, exchange);
      answering?.catch((err: unknown) => unavailable(err, exchange));
    } catch (err) {
      unavailable(err, exchange);
    }
    return true;
  };
}
