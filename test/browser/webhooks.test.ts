// A webhook in a real browser with a receiver on loopback: add, key shown once, test tool, delivery log, pause.
import { expect, it } from "vitest";
import { inChromium, portalBrowser, refreshed, showing } from "../support/portal/portal-browser.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";
import { startReceiver } from "../support/webhooks/webhook-receiver.ts";

inChromium(() => {
  const portal = portalBrowser({ WEBHOOK_ALLOW_PRIVATE: "true" });

  it("is added, tried out, and shows each delivery with what was sent and answered", async () => {
    const receiver = await startReceiver();
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByLabel("URL", { exact: true }).fill(`http://127.0.0.1:${receiver.port}/hooks`);
    await page.getByRole("button", { name: "Add webhook" }).click();
    const key = (await page.getByText(/^whk_[A-Za-z0-9]{32}$/).textContent()) ?? "";
    await page.goto(`${portal.base}/portal/webhooks`);
    expect(await page.content()).not.toContain(key);
    await page.locator('a[href*="/webhooks/"]').first().click();

    await page.waitForURL(/webhooks\/[0-9a-f-]{36}/);
    const webhook = page.url();
    await page.clock.install();
    await page.reload();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("Delivered: your server answered 200").waitFor();
    expect((await refreshed(page)).status()).toBe(200);
    expect(receiver.received[0]?.headers["x-api-key"]).toBe(key);
    expect(await page.getByLabel("Request").textContent()).toContain("link.clicked");
    expect(await seriousViolations(page)).toEqual([]);

    const { key: apiKey } = await portal.service.issueKey(await portal.accountOf(page));
    const made = await portal.service.post("/api/v1/shorten", apiKey, { url: "https://example.com/" });
    await portal.follow(String(made.body.short_url));
    const delivered = `${webhook}?state=delivered`;
    await showing(page, delivered, "the delivery", (text) => text.includes("Answered 200"));
    expect(await page.locator("#deliveries tbody tr", { hasText: "Delivered" }).count()).toBe(1);
    await page.locator("#deliveries tbody a").first().click();
    await page.getByText("Delivered").first().waitFor();
    expect(JSON.parse(String(receiver.received[1]?.body))).toMatchObject({
      data: { link_id: made.body.slug },
    });
    expect(await seriousViolations(page)).toEqual([]);

    await page.goto(webhook);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Nothing is sent until you resume it").waitFor();
    expect(complaints).toEqual([]);
  });
});
