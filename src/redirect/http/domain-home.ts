// GET / on a custom domain: a redirect to the home page that its owner has set, else a small default page.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { type BrandLookup, servedDomain } from "../lookup/brand-lookup.ts";
import type { DomainRouting } from "../lookup/domain-routing.ts";
import { hostResolver } from "./hosts.ts";
import { plainPage } from "./plain-page.ts";

export type DomainHome = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/** True when it has answered the request; false when that is no GET or HEAD of `/`, or no domain in service has the host. */
export function domainHome(deps: {
  readStore: ReadStore;
  baseHost: string;
  domains: Pick<DomainRouting, "serves">;
  brands: BrandLookup;
}): DomainHome {
  const hostOf = hostResolver(deps.baseHost);

  return async (request, reply) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || !/^\/(?:\?|$)/.test(request.url)) return false;
    const hostname = hostOf(request.host ?? "");
    const domain = await servedDomain(deps, hostname);
    if (!domain) return false;
    if (domain.homeUrl !== null) {
      // 302 rather than 301: the owner may set another page at any time.
      reply.header("cache-control", "private, max-age=0, must-revalidate").redirect(domain.homeUrl, 302);
      return true;
    }
    // Safe in HTML without escaping: a canonical host has only letters, digits, dots, hyphens and underscores.
    const text = "This name is used for short links. There is nothing else to see here.";
    const page = plainPage(hostname, text, await deps.brands.ofAccount(domain.accountId));
    reply.header("cache-control", "no-store").type("text/html; charset=utf-8").send(page);
    return true;
  };
}
