// What robots.txt forbids to crawlers, by the rules of RFC 9309: pages of ours, and no short link.
import fastify from "fastify";
import { describe, expect, it } from "vitest";
import type { Api } from "../../../src/api/fastify.ts";
import { siteRoutes } from "../../../src/api/site-routes.ts";

describe("robots.txt", () => {
  it("forbids the service's own pages and no slug that begins like them", async () => {
    const app = fastify();
    siteRoutes(app as unknown as Api);
    const { body } = await app.inject("/robots.txt");
    const rules = [...body.matchAll(/^Disallow: (\S+)$/gm)].map(([, path = ""]) =>
      path.endsWith("$") ? new RegExp(`^${path.slice(0, -1)}$`) : new RegExp(`^${path}`),
    );
    const isForbidden = (path: string) => rules.some((rule) => rule.test(path));
    for (const page of ["/api/v1/links", "/docs", "/portal", "/portal/links"])
      expect(isForbidden(page)).toBe(true);
    for (const slug of ["/docs-2026", "/portals", "/docsmart", "/apiary", "/portal_x"])
      expect(isForbidden(slug)).toBe(false);
  });
});
