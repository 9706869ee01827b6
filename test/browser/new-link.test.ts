// A marketer's new link in a real browser: what it will be stands beside the form as it is typed; rules by buttons and a slider,
// a slug that is free, a QR code as it is chosen; the same without scripts, by buttons.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { inChromium, PATIENCE_MS, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

const PATIENCE = { timeout: 2 * PATIENCE_MS };

inChromium(() => {
  const portal = portalBrowser({ BASE_HOST_SLUGS: "true" });

  const rule = (page: Page, letter: string) =>
    page.getByRole("group", { name: `Rule ${letter}`, exact: true });

  it("shows what it will be as it is typed, and is that when it is made", PATIENCE, async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill("shop.example.com/sale");
    await page.getByText("Everybody: to https://shop.example.com/sale").waitFor();
    await page.getByRole("button", { name: "Random" }).click();
    await page.getByText("This slug is free").waitFor();
    await page.getByLabel("Slug").fill("spring");
    await page.getByText("/spring", { exact: false }).first().waitFor();
    await page.getByText("Campaign (UTM)").click();
    await page.getByLabel("UTM source").fill("newsletter");
    await page.getByText("sale?utm_source=newsletter").waitFor();

    await page.getByText("Rules by visitor and time").click();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await rule(page, "A").getByLabel("Leads to").fill("shop.example.com/b");
    await rule(page, "A").getByRole("slider", { name: "Per cent for A" }).fill("50");
    expect(await rule(page, "A").getByLabel("Share").inputValue()).toBe("50");
    await page.getByText("A: 50 % of visitors to https://shop.example.com/b").waitFor();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await rule(page, "B").getByLabel("Leads to").fill("shop.example.com/de");
    await rule(page, "B").getByLabel("Countries").fill("DE");
    await page.getByText("B: 50 % of visitors (Countries: DE)").waitFor();
    await page.getByText("Everybody else: 50 % of them to").waitFor();
    expect.soft(await unusable(page, DESK_AND_PHONE)).toEqual([]);
    await page.getByRole("button", { name: "Move B up" }).click();
    await page.getByText("A: 100 % of visitors (Countries: DE)").waitFor();
    await page.getByText("B: 0 to 50 % of visitors").waitFor();
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("/spring is ready").waitFor();
    await page.getByText("B: 0 to 50 % of visitors").waitFor();

    await page.getByText("Colours, shape and frame").click();
    await page.getByLabel("Words on a frame").fill("Scan me");
    const code = page.getByRole("img", { name: /QR code of/ });
    const proportions = async () => {
      const { width, height } = (await code.boundingBox()) ?? { width: 1, height: 1 };
      return height / width;
    };
    await expect.poll(proportions).toBeGreaterThan(1.05);
    await page.getByLabel("Words on a frame").fill("Привет");
    await page.getByText("which can't be drawn").waitFor();
    await page.getByLabel("Words on a frame").fill("Scan me");
    await page.getByText("which can't be drawn").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Keep for all my links" }).click();
    await page.getByText("All your QR codes look so").waitFor();
    expect.soft(await unusable(page, DESK_AND_PHONE)).toEqual([]);
    // A code that was refused.
    expect(complaints.filter((complaint) => !complaint.includes("status of 400"))).toEqual([]);
  });

  it("does the same without scripts, by buttons", PATIENCE, async () => {
    const signedIn = await portal.developer();
    const storageState = await signedIn.context().storageState();
    const page = await portal.visitor({ javaScriptEnabled: false, storageState });
    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill("shop.example.com/sale");
    await page.getByLabel("Slug").fill("autumn");
    await page.getByText("Rules by visitor and time").click();
    await page.getByRole("button", { name: "Add a rule" }).click();
    await rule(page, "A").getByLabel("Leads to").fill("shop.example.com/b");
    await rule(page, "A").getByLabel("Share").fill("30");
    await page.getByRole("button", { name: "Show what it will be" }).click();
    await page.getByText("A: 30 % of visitors to https://shop.example.com/b").waitFor();
    await page.getByText("Everybody else: 70 % of them to https://shop.example.com/sale").waitFor();
    await page.getByText("This slug is free").waitFor();
    await page.getByRole("button", { name: "Create link" }).click();
    await page.getByText("/autumn is ready").waitFor();
  });
});
