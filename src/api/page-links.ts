// RFC 8288: the addresses of the first and the next page, in the `Link` header of every answer that is a page.
import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * The request's own address with another place to go on from, in its parameter `name`. `next`: null on the last page.
 * Addresses are relative, so that they hold behind any proxy.
 */
export function setPageLinks(
  { url }: Pick<FastifyRequest, "url">,
  reply: Pick<FastifyReply, "header">,
  name: "cursor" | "after",
  next: string | null,
): void {
  const { pathname, searchParams } = new URL(url, "http://any");
  const address = () => `${pathname}${searchParams.size === 0 ? "" : `?${searchParams}`}`;
  searchParams.delete(name);
  const links = [`<${address()}>; rel="first"`];
  if (next !== null) {
    searchParams.set(name, next);
    links.unshift(`<${address()}>; rel="next"`);
  }
  reply.header("link", links.join(", "));
}

/** A hook for all routes whose answers have a `next_cursor`. */
export async function linkPages(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): Promise<unknown> {
  const next = (answer as { next_cursor?: unknown } | null | undefined)?.next_cursor;
  if (next === null || typeof next === "string") setPageLinks(request, reply, "cursor", next);
  return answer;
}
