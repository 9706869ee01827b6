// GET /robots.txt and /favicon.ico of the base host.
import type { Api } from "./fastify.ts";

/** Two links of a chain, as SVG. */
const SITE_ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" stroke="#6366f1" stroke-width="4"><rect x="3" y="11" width="16" height="10" rx="5"/><rect x="13" y="11" width="16" height="10" rx="5"/></g></svg>`;

/**
 * Short links stay allowed, as hits of crawlers are counted as previews; also slugs that begin with such a word, which a
 * path without `$` (RFC 9309, 2.2.3) would forbid.
 */
const ROBOTS = `User-agent: *
${["api", "docs", "portal"].map((word) => `Disallow: /${word}$\nDisallow: /${word}/\n`).join("")}`;

export function siteRoutes(app: Api): void {
  const schema = { hide: true };
  app.get("/robots.txt", { schema }, async (_request, reply) => {
    return reply
      .type("text/plain; charset=utf-8")
      .header("cache-control", "public, max-age=86400")
      .send(ROBOTS);
  });

  app.get("/favicon.ico", { schema }, async (_request, reply) => {
    return reply.type("image/svg+xml").header("cache-control", "public, max-age=86400").send(SITE_ICON);
  });
}
