// A marketer's way in a real browser: links from a pasted table, tags, filters, an export, a schedule, an A/B test and its
// numbers, on a desk and on a phone.
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { portalBrowser, showing } from "../support/portal/portal-browser.ts";
import { chromiumServer, complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";
import { onServer } from "../support/servers/test-servers.ts";

onServer(chromiumServer, () => {
  const portal = portalBrowser();

  it("goes from a pasted table to tags, a filter and an export, by pages that everybody can use", {
    timeout: 240_000,
  }, async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    const look = async (what: string) => expect.soft(await unusable(page, DESK_AND_PHONE), what).toEqual([]);
    const { base } = portal;
    await page.goto(`${base}/portal/links`);
    await page.getByRole("link", { name: "Many at once" }).click();
    await look("an empty list");
    const rows = Array.from(
      { length: 10 },
      (_, n) => `https://shop.example.com/${n},Shoes ${n},"spring, ads"`,
    );
    const table = ["Page,Name,Group", ...rows, "nowhere,,", rows[0]].join("\n");
    await page.getByLabel("Addresses").fill(table);
    await page.getByRole("button", { name: "Preview" }).click();
    await page
      .getByText("12 rows: 10 will be created, 1 is the same as another, 1 can’t be taken.")
      .waitFor();
    await page.getByLabel("Group").selectOption("Tags");
    await look("a preview");
    await page.getByRole("button", { name: "Create 10 links" }).click();
    await page.getByText("12 rows: 10 created, 1 is the same as another, 1 can’t be taken.").waitFor();
    await look("a report");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy all short links" }).click();
    await page.getByText("Copied").waitFor();
    const copied = String(await page.evaluate("navigator.clipboard.readText()")).split("\n");
    expect(new Set(copied).size).toBe(10);
    const codes = page.waitForEvent("download");
    await page.getByRole("button", { name: "QR codes (ZIP)" }).click();
    expect((await codes).suggestedFilename()).toBe("qr-codes.zip");

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
    await page.getByText("Save this filter").click();
    await page.getByLabel("Name", { exact: true }).fill("Shoe 7");
    await look("a filter to save");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The filter Shoe 7 is saved.").waitFor();
    // Acts as it is chosen, and what has it goes on having the focus.
    await page.getByLabel("Status").selectOption("disabled");
    await page.waitForURL(/tag=campaign&status=disabled$/);
    expect(await page.evaluate("document.activeElement.name")).toBe("status");
    await page.getByRole("link", { name: "Shoe 7", exact: true }).click();
    await page.waitForURL(/q=shop.example.com%2F7&tag=campaign$/);
    await page.getByText("Shoes 7").waitFor();
    expect(new URL(page.url()).search).toContain("q=shop.example.com%2F7&tag=campaign");
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.getByLabel("This page").check();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export 1 link" }).click();
    const exported = await readFile((await (await download).path()) ?? "", "utf8");
    expect(exported.split("\r\n")[1]).toMatch(/^http.*,https:\/\/shop\.example\.com\/7,.*Shoes 7/);
    // The page is as it was, and its forms are sent again.
    await page.getByRole("button", { name: "Disable 1 link" }).click();
    await page.getByText("1 link disabled.").waitFor();

    await page.goto(`${base}/portal/links/new`);
    await page.getByLabel("Tags").pressSequentially("x, sp");
    await page.locator('#tag-names option[value="x, spring"]').waitFor({ state: "attached" });
    // The question came with 409.
    expect(complaints.filter((complaint) => !complaint.includes("status of 409"))).toEqual([]);
  });

  it("goes from a schedule and an A/B test to numbers that a colleague sees at the same address", {
    timeout: 240_000,
  }, async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    const { base } = portal;
    await page.goto(`${base}/portal/links/many`);
    await page.getByLabel("Addresses").fill("url,title\nhttps://shop.example.com/a,Sale");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("button", { name: "Create 1 link" }).click();
    await page.getByText("1 row: 1 created").waitFor();
    await page.goto(`${base}/portal/links`);
    await page.getByRole("link", { name: "Sale", exact: true }).click();

    await page.getByText("Schedule", { exact: true }).click();
    await page.getByLabel(/^Expires at/).fill("2099-12-24T18:30");
    await page.getByText("Rules by visitor and time", { exact: true }).click();
    await page.getByRole("button", { name: "Add a rule" }).click();
    const rule = page.getByRole("group", { name: "Rule A" });
    await rule.getByLabel("Name").fill("Variant B");
    await rule.getByLabel("Share").fill("50");
    await rule.getByLabel("Leads to").fill("https://shop.example.com/b");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("Your changes are saved").waitFor();
    await page.getByText("Everybody else: 50 % of them").waitFor();
    await page.getByText("Expires on Dec 24, 2099").first().waitFor();

    const slug = new URL(page.url()).pathname.split("/").at(-1);
    const visitors = Array.from(
      { length: 40 },
      (_, n) => `Mozilla/5.0 (X11; Linux x86_64; rv:${n}.0) Firefox/${n}.0`,
    );
    const ledTo = await Promise.all(
      visitors.map(async (agent) => {
        const answer = await fetch(`${base}/${slug}`, {
          redirect: "manual",
          headers: { "user-agent": agent },
        });
        return answer.headers.get("location");
      }),
    );
    const toB = ledTo.filter((url) => url === "https://shop.example.com/b").length;
    expect(toB).toBeGreaterThan(0);
    expect(toB).toBeLessThan(visitors.length);

    await showing(page, `${base}/portal/analytics?link=localhost/${slug}`, "all visits", (text) =>
      text.includes(`data-total="people">${visitors.length}<`),
    );
    await page.getByText("Rules", { exact: true }).click();
    await page.getByRole("link", { name: /^Variant B/ }).click();
    const people = (of: Page) => of.locator('[data-total="people"]');
    await people(page)
      .filter({ hasText: String(toB) })
      .waitFor();
    const colleague = await page.context().newPage();
    await colleague.goto(page.url());
    expect(await people(colleague).textContent()).toBe(String(toB));
    expect(complaints).toEqual([]);
  });
});
