// The documentation at /docs in a real browser, as a programmer uses it: finds a page, chooses a language, fills in a key,
// copies a command; on a phone too, and without scripts.
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { inChromium, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

inChromium(() => {
  const portal = portalBrowser();
  let page: Page;
  let complaints: string[];
  const requested: string[] = [];

  beforeAll(async () => {
    page = await portal.visitor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: portal.base });
    page.on("request", (request) => requested.push(request.url()));
    complaints = complaintsOf(page);
    await page.goto(`${portal.base}/docs`);
  });

  it("is found by what one looks for, as it is typed", async () => {
    await page.getByRole("searchbox").fill("slug taken");
    await page.getByRole("link", { name: "slug_taken" }).click();
    await page.waitForURL(/error-codes#error-slug_taken$/);
    await page.getByRole("navigation").getByRole("link", { name: "Your first link" }).click();
    await page.getByRole("heading", { name: "Make it" }).waitFor();
  });

  it("shows one language, and keeps it from page to page", async () => {
    expect(await page.getByText("curl -s", { exact: false }).first().isVisible()).toBe(true);
    await page.getByLabel("Python").check();
    expect(await page.locator("pre:visible").first().textContent()).toContain("import json");
    await page.getByRole("navigation").getByRole("link", { name: "Links", exact: true }).click();
    await page.waitForURL(/docs\/links$/);
    expect(await page.locator("#shorten pre:visible").first().textContent()).toContain("urllib.request");
    await page.getByLabel("curl").check();
  });

  it("fills in one's own key, which goes nowhere, and copies the command with it", async () => {
    const key = "ll_0123456789abcdefghijklmnopqrstuv";
    await page.getByLabel("Your API key").fill(key);
    await page.getByRole("button", { name: "Fill in" }).click();
    await page.locator("#getLink").getByRole("button", { name: "Copy" }).first().click();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toBe(`curl ${portal.base}/api/v1/links/k7m2pqx \\\n  -H "X-API-Key: ${key}"`);
    await page.goto(`${portal.base}/docs/analytics`);
    await page.getByLabel("JavaScript").check();
    expect(await page.locator("#getAnalytics pre:visible").first().textContent()).toContain(`key: "${key}"`);
    expect(requested.filter((url) => url.includes(key))).toEqual([]);
    expect(requested.map((url) => new URL(url).origin)).toEqual(requested.map(() => portal.base));
    expect(complaints).toEqual([]);
  });

  it.each(["", "/guide-first-link", "/redirect", "/analytics", "/error-codes", "/limits", "/search?q=slug"])(
    "can be used by everybody, on phones too: /docs%s",
    { timeout: 180_000 },
    async (path) => {
      await page.goto(`${portal.base}/docs${path}`);
      expect(await unusable(page, DESK_AND_PHONE)).toEqual([]);
    },
  );

  it("searches and shows every language's choice without scripts", async () => {
    const still = await portal.visitor({ javaScriptEnabled: false });
    await still.goto(`${portal.base}/docs/guide-numbers`);
    await still.getByLabel("JavaScript").check();
    expect(await still.locator("pre:visible").first().textContent()).toContain("@linkledger/client");
    expect(await still.getByLabel("Your API key").isVisible()).toBe(false);
    await still.getByRole("searchbox").fill("slug taken");
    await still.getByRole("button", { name: "Search" }).click();
    await still.getByRole("link", { name: "slug_taken" }).click();
    await still.waitForURL(/error-codes#error-slug_taken$/);
  });
});
