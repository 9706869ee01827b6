// The pages of links in a real browser: live chart, copy buttons, keyboard, accessibility (axe).
import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { newEvent } from "../../src/events/new-event.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { FIREFOX, PASSWORD } from "../support/portal/browser-like.ts";
import { showing } from "../support/portal/portal-browser.ts";
import {
  chromiumServer,
  complaintsOf,
  launchChromium,
  seriousViolations,
} from "../support/servers/chromium.ts";
import { freePort } from "../support/servers/free-port.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const PATIENCE = { timeout: 90_000 };

onServer(chromiumServer, () => {
  let service: TestService;
  let browser: Browser;
  let base: string;
  let context: BrowserContext;
  let people = 0;

  beforeAll(async () => {
    const port = String(await freePort());
    base = `http://localhost:${port}`;
    service = await startTestService({ PORT: port, BASE_URL: base });
    browser = await launchChromium();
  }, PATIENCE.timeout);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });
  afterEach(async () => await context?.close());

  /** A new account on the Developer plan. */
  async function developer(): Promise<Page> {
    people += 1;
    context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      timezoneId: "America/New_York",
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE.timeout);
    await page.goto(`${base}/portal/sign-up`);
    await page.getByLabel("E-mail").fill(`browser-${people}@example.com`);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${base}/portal`);
    await service.changeTier(await accountOf(), "developer");
    await showing(page, `${base}/portal`, "the Developer plan", (text) => text.includes(">Developer<"));
    return page;
  }

  async function accountOf(): Promise<string> {
    const session = (await context.cookies()).find(({ name }) => name.endsWith("session"));
    return session?.value.split(".")[0] ?? "";
  }

  /** By keyboard only; returns the path of the link's page. */
  async function shorten(page: Page, url: string): Promise<string> {
    await page.goto(`${base}/portal/links`);
    await page.getByLabel("Long address").focus();
    await page.keyboard.type(url);
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    return new URL(page.url()).pathname;
  }

  function visit(path: string, query = "") {
    const short = `${base}/${path.split("/").at(-1)}${query}`;
    return fetch(short, { redirect: "manual", headers: { "user-agent": FIREFOX } });
  }

  it("draws the first click as it comes, and counts the next ones without a reload", PATIENCE, async () => {
    const page = await developer();
    const complaints = complaintsOf(page);
    const path = await shorten(page, "https://example.com/");
    await page.goto(`${base}${path}/analytics?range=24h`);
    await page.getByText("Nobody has been here yet").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await visit(path);
    await page.locator(".chart-canvas canvas").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.evaluate("document.body.dataset.kept = 'yes'");
    for (let n = 0; n < 3; n += 1) await visit(path, "?qr=1");
    await page.locator('[data-total="qr_scan"]', { hasText: /^3$/ }).waitFor();
    expect(await page.locator('[data-total="click"]').textContent()).toBe("1");
    expect(await page.locator("#recent tbody tr").count()).toBe(4);
    expect(await page.locator("#recent tbody tr").first().textContent()).toContain("QR scan");
    expect(await page.evaluate("document.body.dataset.kept")).toBe("yes");
    await page.getByText("Show as a table").click();
    const last = page.locator("table[data-unit] tbody tr").last();
    expect(await last.locator('[data-kind="total"]').textContent()).toBe("4");
    expect(complaints).toEqual([]);
  });

  it(
    "has a chart whose numbers can be read by pointing at it, in every range, in the browser's time zone",
    PATIENCE,
    async () => {
      const page = await developer();
      const complaints = complaintsOf(page);
      const path = await shorten(page, "https://example.com/");
      await visit(path);
      const isCounted = (text: string) => text.includes('data-total="click">1<');
      await showing(page, `${base}${path}/analytics`, "a click", isCounted);
      const readout = page.locator(".chart-readout");
      for (const range of ["24 hours", "7 days", "30 days", "12 months", "Custom"]) {
        await page.getByRole("link", { name: range, exact: true }).click();
        await page.locator(".choices [aria-current=true]", { hasText: range }).waitFor();
        const plot = page.locator(".chart-canvas .u-over");
        await readout.getByText("Point at the chart").waitFor();
        const { width = 0 } = (await plot.boundingBox()) ?? {};
        await plot.hover({ position: { x: width - 2, y: 20 } });
        await readout.getByText("Clicks: 1 · QR scans: 0").waitFor();
      }
      const zone = await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone");
      const zones = page.getByLabel("Time zone");
      expect([await zones.inputValue(), await zones.locator("option").first().textContent()]).toEqual([
        zone,
        String(zone).replaceAll("_", " "),
      ]);
      await page.getByLabel("First day").fill("2020-01-01");
      await page.getByLabel("Last day").fill("2020-01-31");
      await page.keyboard.press("Enter");
      await page.getByText("Clicks, Jan 1, 2020 to Jan 31, 2020").first().waitFor();
      expect(await readout.textContent()).toBe("No clicks in this time.");
      expect(complaints).toEqual([]);
    },
  );

  it("copies a short link", PATIENCE, async () => {
    const page = await developer();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const path = await shorten(page, "https://example.com/");
    await page.getByRole("button", { name: "Copy the short link" }).click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(`${base}/${path.split("/").at(-1)}`);
  });

  it("has no serious violation on any page of links, light or dark, wide or on a phone", {
    timeout: 240_000,
  }, async () => {
    const page = await developer();
    const path = await shorten(page, "https://example.com/a/rather/long/address?with=a&query=too");
    const accountId = await accountOf();
    const link = `localhost/${path.split("/").at(-1)}`;
    const origin = { correlationId: "t", causationId: "t", actor: { type: "operator" as const } };
    const clicks = Array.from({ length: 60 }, (_, n) => {
      const at = new Date(Date.now() - n * 3_600_000).toISOString();
      const kind = CLICK_KINDS[n % 3];
      return newEvent(
        linkClicked({ link, accountId, at, ...(kind && { kind }), city: `C${n}` }),
        randomUUID(),
        origin,
      );
    });
    await service.backend.eventStore.append("clicks-seed-20260101", "none", clicks);
    const isCounted = (text: string) => /data-total="preview"[^>]*>20</.test(text);
    await showing(page, `${base}${path}/analytics?bots=1`, "60 hits", isCounted);
    const found: string[] = [];
    for (const at of [
      "/portal",
      "/portal/links",
      "/portal/links?q=none",
      path,
      `${path}/analytics?range=7d`,
      `${path}/analytics?range=12mo&bots=1`,
      `${path}/analytics?range=custom&timezone=Asia/Kathmandu`,
      `${path}/analytics?range=custom&timezone=Mars&from=soon`,
    ]) {
      for (const [colorScheme, width] of [
        ["light", 1280],
        ["dark", 390],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 844 });
        await page.goto(base + at);
        for (const line of await seriousViolations(page)) found.push(`${at} ${colorScheme}: ${line}`);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        if (Number(overflow) > 0) found.push(`${at}: ${overflow} pixels too wide at ${width}`);
      }
    }
    expect(found).toEqual([]);
  });
});
