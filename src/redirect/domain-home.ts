// GET / on a custom domain: where its owner wants it to lead, else a small page that says what this is.
import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { domainInService } from "../queries/domain-in-service.ts";
import type { ReadStore } from "../read-store/port.ts";
import { hostResolver } from "./hosts.ts";
import { plainPage } from "./plain-page.ts";

const KEEP_MS = 2_000;

export type DomainHome = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/** Answers true when it has answered the request; false leaves it to others: no `/`, or no domain in service. */
export function domainHome(deps: { readStore: ReadStore; baseHost: string }): DomainHome {
  const hostOf = hostResolver(deps.baseHost);
  const homes = new LRUCache<string, { url: string | null } | "none">({ max: 10_000, ttl: KEEP_MS });

  async function homeOf(hostname: string): Promise<{ url: string | null } | "none"> {
    const known = homes.get(hostname);
    if (known !== undefined) return known;
    const domain = hostname === "" ? undefined : await domainInService(deps, hostname);
    const home = domain ? { url: domain.homeUrl } : ("none" as const);
    homes.set(hostname, home);
    return home;
  }

  return async (request, reply) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || !/^\/(?:\?|$)/.test(request.url)) return false;
    const hostname = hostOf(request.host ?? "");
    const home = await homeOf(hostname);
    if (home === "none") return false;
    if (home.url !== null) {
      // Found, not moved: the owner may set another page at any time.
      reply.header("cache-control", "private, max-age=0, must-revalidate").redirect(home.url, 302);
      return true;
    }
    // Canonical: letters, digits, dots and hyphens.
    const page = plainPage(hostname, "This name is used for short links. There is nothing else to see here.");
    reply.header("cache-control", "no-store").type("text/html; charset=utf-8").send(page);
    return true;
  };
}
