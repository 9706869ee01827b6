// From the landing page to a clicked link in a real browser: by keyboard only, on a phone, without scripts.
import { devices, type Page } from "playwright-core";
import { expect, it } from "vitest";
import { PASSWORD } from "../support/portal/browser-like.ts";
import {
  analyticsOf,
  DASHBOARD,
  inChromium,
  portalBrowser,
  showing,
} from "../support/portal/portal-browser.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { complaintsOf, unusable } from "../support/servers/chromium.ts";

const TWO_MINUTES_MS = 120_000;
const isOneClick = (text: string) => /data-total="people"[^>]*>1</.test(text);

inChromium(() => {
  const portal = portalBrowser();

  /** Presses Tab until the focused element's text matches. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(`(() => {
        const one = document.activeElement;
        if (one === document.body) return "";
        const label = one.labels?.[0]?.textContent ?? "";
        return [one.getAttribute("aria-label") ?? "", label, one.textContent ?? ""].join(" ");
      })()`);
      if (name.test(String(focused))) return;
    }
    throw new Error(`nothing on this page says ${name}`);
  }

  it("goes from the landing page to a clicked link with a chart in under two minutes, by keyboard", {
    timeout: TWO_MINUTES_MS,
  }, async () => {
    const started = performance.now();
    const page = await portal.visitor();
    const complaints = complaintsOf(page);
    await tabTo(page, /sign up/i);
    await page.keyboard.press("Enter");
    await page.waitForURL(/sign-up/);
    await tabTo(page, /e-mail/i);
    await page.keyboard.type("newcomer@example.com");
    await tabTo(page, /password/i);
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(DASHBOARD);
    await tabTo(page, /^\s*Links\s*$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/portal\/.*links/);
    await tabTo(page, /destination/i);
    await page.keyboard.type("https://example.com/launch");
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    const link = page.url();
    const short = `${portal.base}/${new URL(link).pathname.split("/").at(-1)}`;
    expect((await portal.follow(short)).status).toBe(301);
    await showing(page, analyticsOf(portal.base, link), "one click", isOneClick);
    await page.locator(".chart-canvas svg").waitFor();
    const seconds = (performance.now() - started) / 1000;
    printCounts("from the landing page to a clicked link with a chart", { seconds: Math.round(seconds) });
    expect(complaints).toEqual([]);
  });

  it("needs no script for links, keys and numbers", async () => {
    const page = await portal.member({ javaScriptEnabled: false });
    await page.goto(`${portal.base}/portal/keys`);
    await page.getByRole("link", { name: "New link" }).click();
    await page.getByLabel("Destination").fill("https://example.com/without-scripts");
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    const link = page.url();
    await portal.follow(`${portal.base}/${new URL(link).pathname.split("/").at(-1)}`);
    await showing(page, analyticsOf(portal.base, link), "one click", isOneClick);
    expect(await page.locator("#points tbody tr").count()).toBeGreaterThan(0);
    await page.goto(`${portal.base}/portal/keys`);
    await page.getByLabel("Label").fill("No scripts");
    await page.getByRole("button", { name: "Issue key" }).click();
    await page.locator("#new-key", { hasText: /^ll_[A-Za-z0-9]{32}$/ }).waitFor();
    await page.getByRole("link", { name: "Go to your keys" }).click();
    await page.getByText("Deactivate", { exact: true }).click();
    await page.getByRole("button", { name: "Deactivate key" }).click();
    await page.getByText("The key is deactivated.").waitFor();
  });

  it("issues one key for a button that is pressed again before the answer has come", async () => {
    const page = await portal.member();
    await page.goto(`${portal.base}/portal/keys`);
    await page.getByLabel("Label").fill("Once");
    const issued = Promise.withResolvers<void>();
    const pressedTwice = Promise.withResolvers<void>();
    const keys = page.url();
    await page.route(keys, async (route) => {
      const response = await route.fetch();
      issued.resolve();
      await pressedTwice.promise;
      // Rejects when another navigation has taken the place of this one.
      await route.fulfill({ response }).catch(() => undefined);
    });
    await page.route("**/issued", async (route) => {
      await issued.promise;
      await route.fulfill({ status: 204 });
    });
    await page.route("**/pressed-twice", async (route) => {
      pressedTwice.resolve();
      await route.fulfill({ status: 204 });
    });
    // Within the page, as the driver runs nothing there while an answer is awaited.
    await page.evaluate(`{
      const button = document.querySelector("main form button");
      button.click();
      fetch("/issued").then(() => { button.click(); return fetch("/pressed-twice"); });
      // Not the promise, which would be awaited.
      undefined;
    }`);
    await page.locator("#new-key").waitFor();
    await page.unroute(keys);
    await page.getByRole("link", { name: "Go to your keys" }).click();
    await page.getByRole("heading", { name: "Your keys" }).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
  });

  it("keeps a key on the page when its colours change", async () => {
    const page = await portal.member();
    const complaints = complaintsOf(page);
    await page.goto(`${portal.base}/portal/keys`);
    await page.getByLabel("Label").fill("Dark");
    await page.keyboard.press("Enter");
    const key = await page.locator("#new-key").textContent();
    for (const next of ["dark", "light", "system", "dark"]) {
      await page.getByRole("button", { name: `Switch to ${next}` }).click();
      await page.locator(`[data-theme=${next}]`).waitFor();
      expect(await page.locator("#new-key").textContent()).toBe(key);
    }
    await page.goto(`${portal.base}/portal`);
    await page.locator("[data-theme=dark]").waitFor();
    expect(complaints).toEqual([]);
  });

  it("finds every page of the account usable on a phone, light and dark, without a serious violation", {
    timeout: 400_000,
  }, async () => {
    const { viewport, userAgent } = devices["Pixel 7"] ?? {};
    const phone = { viewport: viewport ?? null, userAgent: userAgent ?? "", hasTouch: true, isMobile: true };
    const page = await portal.member(phone);
    const visitors = ["/", "/status", "/portal/sign-in", "/portal/sign-up", "/portal/reset"];
    const own = ["", "/links", "/keys", "/domains", "/webhooks", "/plan", "/account"].map(
      (path) => `/portal${path}`,
    );
    for (const path of [...own, ...visitors]) {
      if (path === visitors[0]) await page.context().clearCookies();
      const answer = await page.goto(portal.base + path);
      expect.soft(answer?.status(), path).toBe(200);
      expect.soft(await unusable(page), path).toEqual([]);
    }
  });
});
