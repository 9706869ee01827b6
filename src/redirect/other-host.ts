// What a custom domain answers where the base host has a route of its own: its slug `docs`, its `/`.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DomainHome } from "./domain-home.ts";
import type { AnswerSlug } from "./route.ts";

/** One path segment, also of an address in absolute form; a query may follow. */
const ONE_SEGMENT = /^(?:https?:\/\/[^/]*)?\/([^/?#]+)(?:[?#]|$)/i;

/** Answers true when it has answered the request; false for what is neither a slug nor `/`. */
export function otherHost(deps: { answerSlug: AnswerSlug; home: DomainHome }) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const slug = slugOf(request);
    if (slug === undefined) return deps.home(request, reply);
    await deps.answerSlug(request, reply, slug);
    return true;
  };
}

function slugOf({ method, url }: FastifyRequest): string | undefined {
  const [, segment] = ONE_SEGMENT.exec(url) ?? [];
  if (segment === undefined || (method !== "GET" && method !== "HEAD")) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
