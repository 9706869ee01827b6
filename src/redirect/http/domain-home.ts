// GET / on a custom domain: where its owner wants it to lead, else a small page that says what this is.
import type { FastifyReply, FastifyRequest } from "fastify";
import { domainsInService } from "../../queries/domain-in-service.ts";
import type { ReadStore } from "../../read-store/port.ts";
import type { DomainRouting } from "../lookup/domain-routing.ts";
import { hostResolver } from "./hosts.ts";
import { plainPage } from "./plain-page.ts";

export type DomainHome = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/** Answers true when it has answered the request; false leaves it to others: no `/`, or no domain in service. */
export function domainHome(deps: {
  readStore: ReadStore;
  baseHost: string;
  domains: Pick<DomainRouting, "serves">;
}): DomainHome {
  const hostOf = hostResolver(deps.baseHost);

  /** A document may be a moment behind; whether the domain serves is never. */
  async function homeOf(hostname: string): Promise<{ url: string | null } | "none"> {
    if (hostname === "") return "none";
    for (const { accountId, homeUrl } of await domainsInService(deps, hostname))
      if (await deps.domains.serves(accountId, hostname)) return { url: homeUrl };
    return "none";
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
