// The pages at /docs: whole, by page, with no link that leads nowhere, and found by search whatever is typed.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERROR_CAUSES } from "../../../src/api/openapi/error-causes.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const root = (path: string) => new URL(`../../../${path}`, import.meta.url);
const guide = readFileSync(root("docs/api.md"), "utf8");

type Named = Record<string, Record<string, { operationId: string; summary: string }>>;
type Document = { paths: Named; webhooks: Named; components: { schemas: object } };

describe("the documentation", () => {
  let service: TestService;
  let document: Document;
  /** By their addresses. */
  let pages: Map<string, string>;

  beforeAll(async () => {
    service = await startTestService();
    document = (await service.ask<Document>("/openapi.json")).body;
    const { text } = await service.ask("/docs");
    const addresses = new Set([...text.matchAll(/href="(\/docs[^"#]*)/g)].map(([, address = ""]) => address));
    pages = new Map();
    for (const address of addresses) {
      const answer = await service.ask(address);
      expect([address, answer.status]).toEqual([address, 200]);
      pages.set(address, answer.text);
    }
  });
  afterAll(() => service.stop());

  const idsOf = (text: string, element: string) =>
    [...text.matchAll(new RegExp(`<${element}[^>]* id="([^"]+)"`, "g"))].map(([, id = ""]) => id);

  it("has every operation, webhook and schema of the document on one of its pages, and every code of an error", () => {
    const operations = [document.paths, document.webhooks].flatMap((all) =>
      Object.values(all).flatMap(Object.values),
    );
    const wanted = [
      ...operations.map(({ operationId }) => operationId),
      ...Object.keys(document.components.schemas).map((name) => `schema-${name}`),
    ];
    const all = [...pages.values()].join();
    expect(idsOf(all, "article").sort()).toEqual(wanted.sort());
    const codes = Object.values(ERROR_CAUSES).flatMap(Object.keys);
    expect(idsOf(all, "tr").sort()).toEqual(codes.map((code) => `error-${code}`).sort());
  });

  it("leads nowhere but to what there is", () => {
    const links = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/href="(\/docs[^"#]*)?(?:#([^"]+))?"/g)].map(
        ([, address = page, id]) => [page, address, id] as const,
      ),
    );
    const assets = ["/docs/docs.css"];
    const lost = links.filter(([, address, id]) => {
      if (assets.includes(address)) return false;
      const text = pages.get(address);
      return text === undefined || (id !== undefined && !text.includes(`id="${id}"`));
    });
    expect(links.length).toBeGreaterThan(200);
    expect(lost).toEqual([]);
  });

  it("says the same limits as docs/api.md", () => {
    const rows = (pages.get("/docs/limits") ?? "").matchAll(
      /<th scope="row">([^<]+)<\/th><td>([^<]+)<\/td><td>([^<]+)<\/td>/g,
    );
    const shown = [...rows].map(([, ...cells]) => `| ${cells.join(" | ")} |`);
    const [, table = ""] = /\| \| Free \| Developer \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/.exec(guide) ?? [];
    expect(shown.filter((row) => !/ \| (no|yes) \|/.test(row))).toEqual(table.trim().split("\n"));
  });

  it("has every address of the API that the documents name", () => {
    const texts = ["README.md", ...readdirSync(root("docs/")).map((name) => `docs/${name}`)]
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFileSync(root(name), "utf8").replace(/^```[\s\S]*?^```/gm, ""));
    const named = texts.flatMap((text) =>
      [...text.matchAll(/`(?:[A-Z]+ )?(\/api\/(?:v1|qr)\/[^`?]+)/g)].map(([, address = ""]) => address),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((address) => !(address in document.paths))).toEqual([]);
  });

  it.each([
    ["slug_taken", "/docs/error-codes#error-slug_taken"],
    ["slug taken", "/docs/error-codes#error-slug_taken"],
    ["restore a deleted", "/docs/links#restoreLink"],
    ["utm_source", "/docs/analytics#getAccountAnalytics"],
    ["idempotency", "/docs/guide-idempotency"],
    ["PATCH /api/v1/links/{slug}", "/docs/links#changeLink"],
    ["link.clicked", "/docs/webhooks#onLinkClicked"],
  ])("finds %s", async (query, address) => {
    const found = await searched(query);
    expect([...found.matchAll(/<li><a href="([^"]+)">/g)].map(([, to]) => to).slice(0, 5)).toContain(address);
  });

  it("answers whatever is searched for with a page, and shows it as text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 300 }), async (query) => {
        const found = await searched(`<b>${query}`);
        expect(found).not.toContain("<b>");
      }),
    );
    expect((await service.ask("/docs/search?q=a&q=b")).status).toBe(200);
    expect((await service.ask("/docs/nothing")).status).toBe(404);
  });

  const searched = async (query: string) => {
    const { status, text } = await service.ask(`/docs/search?${new URLSearchParams({ q: query })}`);
    expect(status).toBe(200);
    return /<main>.*<\/main>/s.exec(text)?.[0] ?? "";
  };
});
