// A marketer's way in a real browser: links from a pasted table, tags, filters and an export, on a desk and on a phone.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { inChromium, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

inChromium(() => {
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
});
