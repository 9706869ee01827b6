// The pages of links in a real browser: copy buttons, keyboard, accessibility (axe).
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { linkHistory } from "../../src/queries/links/link-history.ts";
import { analyticsOf, inChromium, portalBrowser, showing } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, seriousViolations, unusable } from "../support/servers/chromium.ts";

inChromium(() => {
  const portal = portalBrowser();

  /** By keyboard only; returns the path of the link's page. */
  async function shorten(page: Page, url: string): Promise<string> {
    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").focus();
    await page.keyboard.type(url);
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    return new URL(page.url()).pathname;
  }

  function visit(path: string, query = "") {
    return portal.follow(`${portal.base}/${path.split("/").at(-1)}${query}`);
  }

  it("copies a short link", async () => {
    const page = await portal.developer();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const path = await shorten(page, "https://example.com/");
    await page.getByRole("button", { name: "Copy the short link" }).click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(`${portal.base}/${path.split("/").at(-1)}`);
  });

  it("shows a whole link on the first screen of a phone, with filters that open", async () => {
    const page = await portal.developer();
    const { key } = await portal.service.issueKey(await portal.accountOf(page));
    const links = Array.from({ length: 60 }, (_, n) => ({
      url: `https://example.com/${"long/".repeat(20)}${n}`,
    }));
    await portal.service.post("/api/v1/shorten/bulk", key, { links });
    await showing(page, `${portal.base}/portal/links`, "60 links", (text) => text.includes("60 links"));
    const search = page.getByRole("searchbox");
    const summary = page.getByText("Search and filter");
    expect([await search.isVisible(), await summary.isVisible()]).toEqual([true, false]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    const row = await page.locator("tbody tr").first().boundingBox();
    expect((row?.y ?? 999) + (row?.height ?? 0)).toBeLessThan(844);
    expect(await search.isVisible()).toBe(false);
    await summary.focus();
    await page.keyboard.press("Enter");
    await search.fill("long/59");
    await page.keyboard.press("Enter");
    await page.getByText("/59").waitFor();
    expect([await page.locator("tbody tr").count(), await search.isVisible()]).toEqual([1, true]);
  });

  it("changes chosen links, and asks before it deletes them", async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    const first = await shorten(page, "example.com/one");
    await shorten(page, "example.com/two");
    await page.goto(`${portal.base}/portal/links`);
    await page.getByLabel("This page").check();
    await page.getByRole("button", { name: "Disable 2 links" }).waitFor();
    await page.getByLabel("This page").uncheck();
    await page.getByLabel("All 2 that fit").check();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("You can restore them at any time").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByRole("button", { name: "Delete 2 links" }).isVisible()).toBe(false);
    await page.getByLabel("All 2 that fit").uncheck();
    await page.getByLabel("This page").check();
    await page
      .getByLabel(`Choose localhost:${new URL(portal.base).port}/${first.split("/").at(-1)}`)
      .uncheck();
    await page.getByRole("button", { name: "Delete", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete 1 link" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("1 link deleted.").waitFor();
    expect((await visit(first)).status).toBe(301);
    expect(complaints).toEqual([]);
  });

  it("keeps its tabs in place, however long the destination is", async () => {
    const page = await portal.developer();
    const places: (number | undefined)[] = [];
    for (const url of ["example.com/", `example.com/${"a-long-path/".repeat(30)}`]) {
      const path = await shorten(page, url);
      for (const address of [portal.base + path, analyticsOf(portal.base, path)]) {
        await page.goto(address);
        places.push((await page.getByRole("navigation", { name: "Pages of this link" }).boundingBox())?.x);
      }
    }
    expect(new Set(places).size).toBe(1);
  });

  it("has forms for what it carries that a keyboard fills in, say what is wrong, and fit on a phone", async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    const look = async (what: string) => expect.soft(await unusable(page, DESK_AND_PHONE), what).toEqual([]);
    const unfold = async (name: string) => {
      await page.getByText(name, { exact: true }).focus();
      await page.keyboard.press("Enter");
    };
    const rule = page.getByRole("group", { name: "Rule A" });
    await page.goto(`${portal.base}/portal/links/new`);
    expect(await page.getByLabel("Expires at (UTC)").isVisible()).toBe(false);
    await page.getByLabel("Destination").fill("example.com/sale");
    await page.getByLabel("Title").fill("Spring sale");
    await page.getByLabel("Tags").fill("spring, newsletter");
    await unfold("Schedule");
    await page.getByLabel("Expires at (UTC)").fill("2099-12-24T18:30");
    await unfold("Rules by visitor and time");
    await page.getByRole("button", { name: "Add a rule" }).press("Enter");
    await rule.getByLabel("mobile").check();
    await rule.getByLabel("Countries").fill("Germany");
    await rule.getByLabel("Leads to").fill(`example.com/${"a-long-path/".repeat(20)}`);
    await look("a new link");
    await page.keyboard.press("Enter");
    const wrong = rule.getByLabel("Countries");
    await page.getByText("It must be one or more codes of ISO 3166-1").waitFor();
    expect([await wrong.getAttribute("aria-invalid"), await wrong.inputValue()]).toEqual(["true", "Germany"]);
    expect(await page.getByLabel("Expires at (UTC)").inputValue()).toBe("2099-12-24T18:30");
    expect(await rule.getByLabel("mobile").isChecked()).toBe(true);
    await look("a new link that is refused");
    await wrong.fill("DE");
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    await unfold("Limit of clicks");
    await page.getByLabel("Max clicks").fill("many");
    await look("a link's page");
    await page.getByLabel("Max clicks").press("Enter");
    await page.getByText("It must be a whole number").waitFor();
    await look("a link's page that is refused");
    await page.getByLabel("Max clicks").fill("100");
    await page.keyboard.press("Enter");
    await page.getByText("Your changes are saved").waitFor();
    await page.getByText("set the limit of clicks to 100").waitFor();
    await page.goto(`${portal.base}/portal/links`);
    await page.getByText("Spring sale").waitFor();
    await look("the list");
    // Both forms that were refused.
    expect(complaints.filter((complaint) => !complaint.includes("status of 400"))).toEqual([]);
  });

  it("has times typed and shown in the browser's zone, across summer time, and unchanged where nobody typed", async () => {
    const page = await portal.developer({ timezoneId: "America/New_York" });
    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill("example.com/sale");
    await page.getByText("Schedule", { exact: true }).click();
    await page.getByLabel("Active from (America/New York)").fill("2099-07-01T09:00");
    await page.getByLabel("Expires at (America/New York)").fill("2099-12-24T18:30");
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    const [host = "", slug = ""] = new URL(page.url()).pathname.split("/").slice(-2);
    const times = async () => {
      const { link } = await linkHistory(portal.service.backend, undefined, host, slug);
      return [link.activeFrom, link.expiresAt];
    };
    expect(await times()).toEqual(["2099-07-01T13:00:00.000Z", "2099-12-24T23:30:00.000Z"]);
    expect(await page.getByLabel("Expires at (America/New York)").inputValue()).toBe("2099-12-24T18:30");
    await page.getByText("This link starts on Jul 1, 2099, 9:00 AM").waitFor();
    await page.getByLabel("Title").fill("Sale");
    await page.keyboard.press("Enter");
    await page.getByText("Your changes are saved").waitFor();
    await page.getByText("set the title to “Sale”").waitFor();
    expect(await page.getByText("set the start to").count()).toBe(1);
    await page.getByLabel("Active from (America/New York)").fill("");
    await page.getByLabel("Expires at (America/New York)").fill("2020-01-01T00:00");
    await page.keyboard.press("Enter");
    await page.getByText("must be in the future").waitFor();
    expect(await page.getByLabel("Expires at (America/New York)").inputValue()).toMatch(/^2020-01-01T00:00/);
    expect(await times()).toEqual(["2099-07-01T13:00:00.000Z", "2099-12-24T23:30:00.000Z"]);
  });
});
