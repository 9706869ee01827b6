// A marketer's way in a real browser: links from a pasted table, tags, filters, an export, on a desk and on a phone.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPortalBrowser, PATIENCE_MS, type PortalBrowser } from "../support/portal/portal-browser.ts";
import { chromiumServer, complaintsOf, unusable } from "../support/servers/chromium.ts";
import { onServer } from "../support/servers/test-servers.ts";

const WIDTHS = { light: 1280, dark: 390 };

onServer(chromiumServer, () => {
  let portal: PortalBrowser;
  beforeAll(async () => {
    portal = await openPortalBrowser();
  }, PATIENCE_MS);
  afterAll(() => portal?.stop());

  it("goes from a pasted table to tags, a filter and an export, by pages that everybody can use", {
    timeout: 240_000,
  }, async () => {
    const page = await portal.member();
    const complaints = complaintsOf(page);
    const faults: string[] = [];
    const look = async (what: string) => {
      for (const fault of await unusable(page, WIDTHS)) faults.push(`${what}, ${fault}`);
    };
    const { base } = portal;
    await portal.upgrade(page);
    await page.goto(`${base}/portal/links`);
    await page.getByRole("link", { name: "Many at once" }).click();
    await look("an empty list");
    const rows = Array.from(
      { length: 10 },
      (_, n) => `https://shop.example.com/${n},Shoes ${n},"spring, ads"`,
    );
    await page.getByLabel("Addresses").fill(["url,title,tags", ...rows, "nowhere,,"].join("\n"));
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("11 rows: 10 will be created, 1 can’t be taken.").waitFor();
    await look("a preview");
    await page.getByRole("button", { name: "Create 10 links" }).click();
    await page.getByText("11 rows: 10 created, 1 can’t be taken.").waitFor();
    await look("a report");

    await page.getByRole("link", { name: "Your links" }).click();
    await page.getByText("10 links.").waitFor();
    await page.getByLabel("Choose").first().check();
    await page.getByRole("button", { name: "Disable 1 link" }).waitFor();
    await page.getByLabel("All 10 that fit").check();
    await page.locator("summary", { hasText: "Tag" }).click();
    await page.locator("#several-tag").fill("campaign");
    await look("tags of many");
    await page.getByRole("button", { name: "Add to 10 links" }).click();
    await page.getByText("10 links with the tag campaign.").waitFor();

    await page.getByRole("link", { name: "Tags" }).click();
    await page.getByText("3 tags.").waitFor();
    await page.getByLabel("Edit the tag ads").click();
    await page.getByRole("textbox", { name: "Name" }).fill("campaign");
    await look("the tags");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Merge ads into campaign?").waitFor();
    await look("a question");
    await page.getByRole("button", { name: "Merge" }).click();
    await page.getByText("2 tags.").waitFor();
    await page.getByLabel("Edit the tag campaign").click();
    await page.locator("#colour-campaign").selectOption("teal");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The colour of campaign is saved.").waitFor();

    await page.getByRole("link", { name: "campaign" }).click();
    await page.getByLabel("Search").fill("shop.example.com/7");
    await page.keyboard.press("Enter");
    await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    await page.getByText("Shoes 7").waitFor();
    expect(new URL(page.url()).search).toContain("q=shop.example.com%2F7&tag=campaign");
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.getByLabel("This page").check();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export 1 link" }).click();
    const table = await readFile((await (await download).path()) ?? "", "utf8");
    expect(table.split("\r\n")[1]).toMatch(/^http.*,https:\/\/shop\.example\.com\/7,.*Shoes 7/);
    // The page is as it was, and its forms are sent again.
    await page.getByRole("button", { name: "Disable 1 link" }).click();
    await page.getByText("1 link disabled.").waitFor();

    await page.goto(`${base}/portal/links/new`);
    await page.getByLabel("Tags").pressSequentially("x, sp");
    await page.locator('#tag-names option[value="x, spring"]').waitFor({ state: "attached" });
    expect(faults).toEqual([]);
    // The question came with 409.
    expect(complaints.filter((complaint) => !complaint.includes("status of 409"))).toEqual([]);
  });
});
