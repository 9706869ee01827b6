// Name, colour and logo of an account, chosen and seen in a real browser: by visitors, at a desk and on a phone, light and dark.
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { inChromium, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, DESK_AND_PHONE, unusable } from "../support/servers/chromium.ts";

inChromium(() => {
  const portal = portalBrowser();

  it("are chosen on the account's page, shown to visitors, and drawn in the QR code", {
    timeout: 120_000,
  }, async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    const look = async (what: string) => expect.soft(await unusable(page, DESK_AND_PHONE), what).toEqual([]);
    await page.goto(`${portal.base}/portal/account`);
    const none = page.getByLabel("No colour of your own");
    expect(await none.isChecked()).toBe(true);
    await page.getByLabel("Your name").fill("Blue Bottle Coffee");
    await page.getByLabel("Colour", { exact: true }).fill("#ffd400");
    await page.locator("#visitors").getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Visitors see it").waitFor();
    expect(await none.isChecked()).toBe(false);
    const png = new PNG({ width: 80, height: 80 });
    png.data.fill(0x80);
    const file = { name: "logo.png", mimeType: "image/png", buffer: PNG.sync.write(png) };
    await page.getByLabel("PNG image").setInputFiles({ ...file, buffer: Buffer.from("no picture") });
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByText("The logo must be a PNG image").waitFor();
    await look("a logo that is refused");
    await page.getByLabel("PNG image").setInputFiles(file);
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByText("Your logo is set").waitFor();
    await look("the account");

    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill("example.com/sale");
    await page.locator("summary", { hasText: "Password" }).click();
    await page.locator('[name="password"]').fill("open sesame");
    await page.keyboard.press("Enter");
    await page.getByText("is ready").waitFor();
    expect(await page.getByAltText("QR code of").getAttribute("src")).toContain("look=account");
    // Not waitForFunction: what it evaluates later is refused by the page's Content-Security-Policy.
    await expect
      .poll(() => page.evaluate("document.querySelector('img.qr').naturalWidth"))
      .toBeGreaterThan(100);
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: "Disable link" }).waitFor();
    await look("a link with its menu open");
    const slug = page.url().split("/").at(-1);
    await page.goto(`${portal.base}/${slug}`);
    await page.getByText("Blue Bottle Coffee").waitFor();
    await look("the page that asks for a password");
    await page.goto(`${portal.base}/no-such-link`);
    await page.getByText("Short link not found").waitFor();
    await look("an unknown link");
    // The form that was refused, the page that asks, and the link that isn't there.
    expect(complaints.filter((complaint) => !/status of 40[014]/.test(complaint))).toEqual([]);
  });
});
