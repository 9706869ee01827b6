// The reference at /docs in a real browser: whole, within the window, usable without a mouse, and nothing of it from elsewhere.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chromiumServer, complaintsOf, launchChromium, unusable } from "../support/servers/chromium.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

onServer(chromiumServer, () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  const requested: string[] = [];

  beforeAll(async () => {
    service = await startTestService();
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on("request", (request) => requested.push(request.url()));
    complaints = complaintsOf(page);
    await page.goto(`${service.url}/docs`);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  it("asks no other host for anything, runs nothing, and keeps its own policy", async () => {
    expect(requested.map((url) => new URL(url).origin)).toEqual(requested.map(() => service.url));
    expect(requested.map((url) => new URL(url).pathname).sort()).toEqual(
      expect.arrayContaining(["/docs", "/docs/reference.css"]),
    );
    expect(await page.locator("script").count()).toBe(0);
    const mark = page.locator("header img");
    expect(await mark.evaluate((image: { naturalWidth: number }) => image.naturalWidth)).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it("has every operation, webhook and schema of the document, and no link that leads nowhere", async () => {
    type Named = Record<string, Record<string, { operationId: string }>>;
    type Document = { paths: Named; webhooks: Named; components: { schemas: object } };
    const { paths, webhooks, components } = (await service.ask<Document>("/openapi.json")).body;
    const operations = [paths, webhooks].flatMap((all) => Object.values(all).flatMap(Object.values));
    const wanted = [
      ...operations.map(({ operationId }) => operationId),
      ...Object.keys(components.schemas).map((name) => `schema-${name}`),
    ];
    const ids = await page.locator("article").evaluateAll((articles) => articles.map(({ id }) => id));
    expect(ids.sort()).toEqual(wanted.sort());
    const targets = await page
      .locator("a[href^='#']")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.slice(1)));
    const all = new Set(await page.locator("[id]").evaluateAll((parts) => parts.map(({ id }) => id)));
    expect(targets.filter((target) => target === undefined || !all.has(target))).toEqual([]);
  });

  it("shows the examples of the document, as commands and answers", async () => {
    const shown = page.locator("#shorten .examples");
    expect(await shown.textContent()).toContain("curl -X POST http://localhost/api/v1/shorten");
    expect(await shown.textContent()).toContain('"customSlug": "spring-sale"');
    expect(await page.locator("#onLinkClicked .examples").textContent()).toContain('"click_data"');
  });

  it("can be used by everybody, on phones too, in both schemes", { timeout: 180_000 }, async () => {
    // One size, as a page of thousands of elements takes long to look through.
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await unusable(page)).toEqual([]);
  });
});
