// API keys in a real browser: bounds chosen before a key is issued, and a rotation.
import { expect, it } from "vitest";
import { inChromium, portalBrowser } from "../support/portal/portal-browser.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";

inChromium(() => {
  const portal = portalBrowser();

  it("are issued with bounds, seen in the list, and rotated", async () => {
    const page = await portal.member();
    const complaints = complaintsOf(page);
    await page.getByRole("link", { name: "API keys" }).first().click();
    await page.getByLabel("Label").fill("Reports");
    await page.getByText("Scopes, expiry and addresses").click();
    await page.getByLabel("Make and change links").uncheck();
    await page.getByLabel("It expires").selectOption("In 30 days");
    await page.getByLabel("Allowed addresses").fill("127.0.0.0/8");
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Issue key" }).click();
    const key = (await page.getByText(/^ll_[A-Za-z0-9]{32}$/).textContent()) ?? "";
    const ask = (method: string, path: string) =>
      portal.service.ask<{ code?: string }>(path, { method, key, ...(method === "POST" && { body: {} }) });
    expect((await ask("GET", "/api/v1/links")).status).toBe(200);
    expect((await ask("POST", "/api/v1/shorten")).body.code).toBe("missing_scope");
    await page.getByRole("link", { name: "Fill it in at the documentation" }).click();
    await page
      .locator("pre:visible", { hasText: `"X-API-Key: ${key}"` })
      .first()
      .waitFor();
    await page.goto(new URL("/portal/keys", page.url()).href);
    await page
      .getByText("links:read, analytics:read, analytics:share, events:read, from 127.0.0.0/8")
      .waitFor();
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    await page.getByLabel("The present key works").selectOption("for an hour");
    await page.getByRole("button", { name: "Rotate key" }).click();
    await page.getByText("is accepted until").waitFor();
    await page.getByRole("link", { name: "Go to your keys" }).click();
    await page.getByText(", too, until").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
