// GET and HEAD /{slug}: the redirect (interface, part 4). A cached link is answered without a single await.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ClickRecorder } from "./click-recorder.ts";
import { RecorderBusy } from "./commit-waiters.ts";
import { hostResolver } from "./hosts.ts";
import type { LinkEntry } from "./link-entry.ts";
import type { LinkLookup } from "./lookup.ts";
import { answerMoved, hitOf } from "./moved.ts";
import { answerNotFound, answerUnavailable } from "./not-found.ts";
import type { Requester } from "./requester.ts";

/** Redirects by outcome, counted as plain numbers for the metrics collector. */
export type RedirectStats = { found: number; notFound: number; disabled: number; error: number };

export type RedirectDeps = {
  lookup: Pick<LinkLookup, "peek" | "find">;
  recorder: Pick<ClickRecorder, "record" | "recordAtOnce">;
  baseHost: string;
  now: () => number;
  stats: RedirectStats;
};

export type RedirectRouteDeps = RedirectDeps & { requester: Requester };

/** Answers a GET or HEAD of one path segment; `slug` is that segment, decoded. */
export type AnswerSlug = (
  request: FastifyRequest,
  reply: FastifyReply,
  slug: string,
) => FastifyReply | Promise<FastifyReply | undefined> | undefined;

/** What redirectAtOnce leaves: links to be looked up first, clicks that wait for their commit, all that is no 301. */
export function redirectRoute(app: FastifyInstance, answerSlug: AnswerSlug): void {
  app.route<{ Params: { slug: string } }>({
    method: ["GET", "HEAD"],
    url: "/:slug",
    exposeHeadRoute: false,
    logLevel: "silent",
    handler: (request, reply) => answerSlug(request, reply, request.params.slug),
  });
}

export function slugAnswer(deps: RedirectRouteDeps): AnswerSlug {
  const hostOf = hostResolver(deps.baseHost);
  const { requester } = deps;

  async function findFirst(
    host: string,
    slug: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> {
    let entry: LinkEntry | undefined;
    try {
      entry = await deps.lookup.find(host, slug);
    } catch (error) {
      return unavailable(error, request, reply);
    }
    if (entry !== undefined) return answer(entry, request, reply);
    deps.stats.notFound++;
    return answerNotFound(request, reply);
  }

  function answer(
    entry: LinkEntry,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply | Promise<FastifyReply | undefined> | undefined {
    if (entry.status !== "live") {
      deps.stats.disabled++;
      return answerNotFound(request, reply);
    }
    const wait = deps.recorder.record(hitOf(entry, request.raw, requester, deps.now()));
    if (wait === undefined) return redirect(entry, reply);
    return wait.then(
      () => redirect(entry, reply),
      (error: unknown) => unavailable(error, request, reply),
    );
  }

  /** No hook has anything to add. */
  function redirect(entry: LinkEntry, reply: FastifyReply): undefined {
    deps.stats.found++;
    reply.hijack();
    answerMoved(entry, reply.raw);
  }

  /** The visitor is asked to come again; what is behind it is for the log. */
  function unavailable(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    deps.stats.error++;
    request.log.error(error);
    return answerUnavailable(
      request,
      reply,
      error instanceof RecorderBusy ? error.code : "store_unavailable",
    );
  }

  return (request, reply, slug) => {
    const host = hostOf(requester.host(request.raw));
    const entry = deps.lookup.peek(host, slug);
    return entry === undefined ? findFirst(host, slug, request, reply) : answer(entry, request, reply);
  };
}
