// Nothing of a page is out of reach in a real browser: confirmations at any width, long names on a phone.
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { inChromiumAtLength, portalBrowser } from "../support/portal/portal-browser.ts";

const LONG = "n".repeat(100);
const HOST = `${"h".repeat(60)}.${"h".repeat(60)}.example.com`;

inChromiumAtLength(() => {
  const portal = portalBrowser({ WEBHOOK_ALLOW_PRIVATE: "true" });
  let page: Page;

  beforeAll(async () => {
    page = await portal.developer();
  });

  async function addDomain(hostname: string): Promise<string> {
    await page.goto(`${portal.base}/portal/domains`);
    await page.getByLabel("Host name").fill(hostname);
    await page.getByRole("button", { name: "Add domain" }).click();
    await page.getByRole("heading", { name: hostname }).waitFor();
    return page.url();
  }

  async function addWebhook(url: string, label: string): Promise<string> {
    await page.goto(`${portal.base}/portal/webhooks`);
    await page.getByLabel("URL", { exact: true }).fill(url);
    await page.getByLabel("Label").fill(label);
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByRole("link", { name: "Try it out" }).click();
    await page.waitForURL(/webhooks\/[0-9a-f-]{36}$/);
    return page.url();
  }

  it("opens each confirmation within the window", async () => {
    const domain = await addDomain("go.example.com");
    const webhook = await addWebhook(`http://127.0.0.1:8080/${"a".repeat(200)}`, "");
    await page.goto(`${portal.base}/portal/keys`);
    await page.getByLabel("Label").fill("Website");
    await page.getByRole("button", { name: "Issue key" }).click();
    const own = ["/keys", "/plan", "/account"].map((path) => `${portal.base}/portal${path}`);
    const outside: string[] = [];
    for (const url of [domain, webhook, ...own])
      for (const width of [1280, 720]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(url);
        const confirmations = await page.locator("[popovertarget]:not([popovertargetaction])").all();
        expect(confirmations.length, url).toBeGreaterThan(0);
        for (const one of confirmations) {
          await one.click();
          const box = await page.locator(".confirm-box:popover-open").boundingBox();
          if (!box || box.x < 0 || box.x + box.width > width)
            outside.push(`${url} at ${width}: from ${box?.x}`);
          await page.getByRole("button", { name: "Cancel" }).click();
          await page.locator(".confirm-box:popover-open").waitFor({ state: "detached" });
        }
      }
    expect(outside).toEqual([]);
  });

  it("keeps long labels and names within the window, on a phone too", async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    const pages = [await addDomain(HOST), await addWebhook("http://127.0.0.1:8080/", LONG)];
    await page.goto(`${portal.base}/portal/keys`);
    await page.getByLabel("Label").fill(LONG);
    await page.getByRole("button", { name: "Issue key" }).click();
    await page.getByRole("link", { name: "Go to your keys" }).click();
    const lists = ["/keys", "/plan", "/webhooks", "/domains"].map((path) => `${portal.base}/portal${path}`);
    const tooWide: string[] = [];
    for (const url of [...pages, ...lists])
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 740 });
        await page.goto(url);
        const overflow = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
        if (overflow > 0) tooWide.push(`${url} at ${width}: ${overflow} pixels`);
      }
    expect(tooWide).toEqual([]);
  });
});
