// The analytics page in a real browser: a value at the pointer and the keyboard, filters, live numbers, accessibility (axe).
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { BrowserContextOptions, Page } from "playwright-core";
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { newEvent } from "../../src/events/new-event.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { analyticsOf, inChromium, portalBrowser, showing } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

const ORIGIN = { correlationId: "t", causationId: "t", actor: { type: "operator" as const } };

inChromium(() => {
  const portal = portalBrowser();

  /** A new account on the Developer plan with a link; the path of the link's page. */
  async function developer(options: BrowserContextOptions = {}): Promise<{ page: Page; path: string }> {
    const page = await portal.developer(options);
    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill("https://example.com/");
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    return { page, path: new URL(page.url()).pathname };
  }

  function visit(path: string, query = "") {
    return portal.follow(`${portal.base}/${path.split("/").at(-1)}${query}`);
  }

  async function clicked(page: Page, path: string, clicks: Parameters<typeof linkClicked>[0][]) {
    const accountId = await portal.accountOf(page);
    const link = `localhost/${path.split("/").at(-1)}`;
    const events = clicks.map((click) =>
      newEvent(linkClicked({ link, accountId, ...click }), randomUUID(), ORIGIN),
    );
    await portal.service.backend.eventStore.append(`clicks-${randomUUID()}-20260101`, "none", events);
  }

  const number = (page: Page, metric: string) => page.locator(`[data-total="${metric}"]`);
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

  it("draws the first click as it comes, and counts the next ones without a reload", async () => {
    const { page, path } = await developer();
    const complaints = complaintsOf(page);
    await page.goto(`${analyticsOf(portal.base, path)}&range=7d`);
    await page.getByText("Nobody has been here in this time").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await visit(path);
    await page.getByRole("heading", { name: "Latest clicks" }).waitFor();
    await page.evaluate("document.body.dataset.kept = 'yes'");
    await page.getByText("Cities", { exact: true }).click();
    for (let n = 0; n < 3; n += 1) await visit(path, "?qr=1");
    await number(page, "qr_scan").filter({ hasText: /^3$/ }).waitFor();
    expect(await number(page, "people").textContent()).toBe("4");
    expect(await page.locator("#recent tbody tr").count()).toBe(4);
    expect(await page.locator("#recent tbody tr").first().textContent()).toContain("QR scan");
    expect(await page.evaluate("document.body.dataset.kept")).toBe("yes");
    expect(await page.getByLabel("Cities").isChecked()).toBe(true);
    await page.getByText("Show as a table").click();
    const clicks = await page.locator("#points td[data-label=Clicks]").allTextContents();
    expect(clicks.reduce((sum, point) => sum + Number(point), 0)).toBe(4);
    expect(complaints).toEqual([]);
  });

  it("shows what came while its stream was broken off", async () => {
    const { page, path } = await developer();
    let streams = 0;
    // Each ends at once, and none says that anything has changed.
    await page.route(/\/portal\/.*live$/, async (route) => {
      streams += 1;
      const body = "retry: 200\n\nevent: alive\ndata: {}\n\n";
      await route.fulfill({ contentType: "text/event-stream", body });
    });
    await page.goto(`${portal.base}/portal`);
    await visit(path);
    await number(page, "people").filter({ hasText: /^1$/ }).waitFor();
    expect(streams).toBeGreaterThan(1);
  });

  it("says a point's value at the pointer and by the keyboard, in every range, in the browser's time zone", async () => {
    const { page, path } = await developer({ timezoneId: "America/New_York" });
    const complaints = complaintsOf(page);
    await visit(path);
    const isCounted = (text: string) => text.includes('data-total="people">1<');
    await showing(page, analyticsOf(portal.base, path), "a click", isCounted);
    const readout = page.locator(".chart-readout");
    for (const range of ["Today", "7 days", "30 days", "90 days", "12 months", "Custom"]) {
      await page.getByRole("link", { name: range, exact: true }).click();
      await page.locator(".choices [aria-current=true]", { hasText: range }).waitFor();
      const chart = page.locator(".chart-canvas svg");
      expect(await readout.isVisible()).toBe(false);
      const { width = 0 } = (await chart.boundingBox()) ?? {};
      await chart.hover({ position: { x: width - 2, y: 20 } });
      expect(await readout.textContent()).toMatch(/: 1 click\b/);
    }
    await page.getByText("Times are those of America/New York.").waitFor();
    await page.goto(`${portal.base}/portal/analytics?range=7d`);
    const slider = page.getByRole("slider", { name: "Clicks, last 7 days" });
    await slider.focus();
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/: 1 click\b/);
    await page.keyboard.press("ArrowLeft");
    await readout.getByText(/: 0 clicks\b/).waitFor();
    await page.keyboard.press("Home");
    expect(await slider.getAttribute("aria-valuenow")).toBe("1");
    const zones = page.getByLabel("Time zone");
    await page.getByRole("link", { name: "Custom", exact: true }).click();
    expect([await zones.inputValue(), await zones.locator("option").first().textContent()]).toEqual([
      "America/New_York",
      "America/New York",
    ]);
    await page.getByLabel("First day").fill("2020-01-01");
    await page.getByLabel("Last day").fill("2020-01-31");
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "Clicks, Jan 1, 2020 to Jan 31, 2020" }).waitFor();
    await page.locator("#chart", { hasText: "No clicks in this time." }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("has its chart on the first screen, and rows that become filters of an address that can be sent", async () => {
    const { page, path } = await developer({ viewport: { width: 1280, height: 800 } });
    const complaints = complaintsOf(page);
    await clicked(page, path, [
      { at: daysAgo(1), country: "FR", city: "Paris" },
      { at: daysAgo(1), country: "FR", city: "Lyon", kind: "qr_scan" },
      { at: daysAgo(2), country: "DE", city: "Berlin" },
    ]);
    await showing(page, `${portal.base}/portal/analytics`, "three clicks", (text) =>
      text.includes('data-total="people">3<'),
    );
    const chart = await page.locator(".chart-canvas").boundingBox();
    expect((chart?.y ?? 999) + (chart?.height ?? 0)).toBeLessThan(800);
    const france = await page.locator('.world use[href$="#FR"]').boundingBox();
    expect(france?.width).toBeGreaterThan(5);
    await page.getByText("Cities", { exact: true }).click();
    await page.getByRole("link", { name: /^Paris, France/ }).waitFor();
    await page.getByText("Countries", { exact: true }).click();
    await page.getByText("Cities", { exact: true }).click();
    await page.getByRole("link", { name: /^Lyon, France/ }).click();
    await page.getByRole("link", { name: /^City\s*Lyon, France.*take away/ }).waitFor();
    expect(await page.getByLabel("Cities").isChecked()).toBe(true);
    await page.getByRole("link", { name: /^QR scans/ }).click();
    await page.getByRole("img", { name: "QR scans, last 7 days" }).waitFor();
    const colleague = await page.context().newPage();
    await colleague.goto(page.url());
    const main = (one: Page) => one.locator("#metrics, #breakdowns").allInnerTexts();
    expect(await main(colleague)).toEqual(await main(page));
    await colleague.close();
    expect(await number(page, "people").textContent()).toBe("1");
    await page.getByRole("link", { name: /take away/ }).click();
    await number(page, "people").filter({ hasText: "3" }).waitFor();
    expect(await page.locator(".chip").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("is taken home, compared with another time and read by the hours of the week, as a marketer would", async () => {
    const { page, path } = await developer({ viewport: { width: 390, height: 844 } });
    const complaints = complaintsOf(page);
    const at = (days: number) => ({ at: daysAgo(days), country: "FR" });
    await clicked(page, path, [at(1), at(1), at(2), at(8)]);
    await showing(page, `${portal.base}/portal`, "four clicks", (text) =>
      text.includes('data-total="people">3<'),
    );
    await page.getByText("Live", { exact: true }).waitFor();
    await page.evaluate("document.body.dataset.kept = 'yes'");
    const began = performance.now();
    await visit(path);
    await number(page, "people").filter({ hasText: /^4$/ }).waitFor();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(await page.evaluate("document.body.dataset.kept")).toBe("yes");
    await page.getByText("Compared with the time before").click();
    await page.getByRole("link", { name: "the month before" }).click();
    await page.getByText("Compared with the month before").waitFor();
    await page.getByText("By day").click();
    await page.getByRole("link", { name: "hour", exact: true }).click();
    await page.getByText("By hour").waitFor();
    await page.getByText("Show as a table").click();
    const rows = await page.locator("#points tbody tr").count();
    expect(rows).toBeGreaterThan(6 * 24);
    // The whole number of each line of the scale is on the screen.
    for (const label of await page.locator(".chart-canvas svg text").all()) {
      const box = await label.boundingBox();
      if (box && box.width > 0) expect([box.x >= 0, box.x + box.width <= 390]).toEqual([true, true]);
    }
    const picture = page.waitForEvent("download");
    await page.getByRole("button", { name: "PNG" }).click();
    const file = await (await picture).path();
    expect(PNG.sync.read(await readFile(file)).width).toBeGreaterThan(390);
    await page.getByRole("link", { name: "All analytics" }).click();
    const hours = page.getByRole("table", { name: "Hours by the days of the week" });
    await hours.getByRole("link").first().click();
    await page.getByRole("link", { name: /^Hour of the week.*take away/ }).waitFor();
    await page.getByRole("heading", { name: "Latest clicks" }).waitFor();
    const table = page.waitForEvent("download");
    await page.getByRole("link", { name: /^CSV.*the chart$/ }).click();
    expect((await table).suggestedFilename()).toBe("series.csv");
    expect(complaints).toEqual([]);
  });

  it("asks why numbers changed in the time zone that it shows", async () => {
    const { page } = await developer({ timezoneId: "America/New_York" });
    await page.goto(`${portal.base}/portal/analytics`);
    await page.goto(`${portal.base}/portal/analytics/why`);
    const since = page.getByLabel("Since");
    const shown = await since.inputValue();
    expect(shown).toBe(await since.getAttribute("value"));
    await page.getByText("Time zone: America/New_York").first().waitFor();
    await page.getByRole("button", { name: "Show" }).click();
    expect(new URL(page.url()).searchParams.get("since")).toBe(shown);
    expect(await since.inputValue()).toBe(shown);
  });

  it("has no serious violation, light or dark, wide or on a phone", { timeout: 240_000 }, async () => {
    const { page, path } = await developer();
    const clicks = Array.from({ length: 60 }, (_, n) => ({
      at: daysAgo(n / 24),
      kind: CLICK_KINDS[n % 3] ?? "click",
      city: `C${n}`,
    }));
    await clicked(page, path, clicks);
    const link = analyticsOf("", path);
    const isCounted = (text: string) => text.includes('data-total="preview">20<');
    await showing(page, `${portal.base}${link}`, "60 hits", isCounted);
    for (const at of [
      "/portal",
      "/portal/analytics?country=FR&show=visitors&open=city",
      "/portal/analytics?country=XX&country=FR&device=tablet",
      `${link}&range=30d&show=preview`,
      `${link}&range=custom&timezone=Mars&from=soon`,
    ]) {
      await page.goto(portal.base + at);
      expect.soft(await unusable(page, DESK_AND_PHONE), at).toEqual([]);
    }
  });
});
