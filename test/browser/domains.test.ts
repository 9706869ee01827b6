// A custom domain in a real browser with a real name server: add, set the records, verify, use, lose.
import { afterAll, beforeAll, expect, it } from "vitest";
import { inChromium, portalBrowser } from "../support/portal/portal-browser.ts";
import { until } from "../support/runtime/until.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";
import { type Answer, type LoopbackDns, openDns } from "../support/servers/loopback-dns.ts";

const HOST = "go.example.com";

inChromium(() => {
  let dns: LoopbackDns;
  const zone = new Map<string, readonly Answer[]>();

  beforeAll(async () => {
    dns = await openDns((name) => zone.get(name));
  });
  afterAll(() => dns?.stop());
  const portal = portalBrowser(() => ({ DNS_SERVERS: dns.server }));

  it("is added, verified once its record is there, and serves links with slugs of one's own", async () => {
    const page = await portal.developer();
    const complaints = complaintsOf(page);
    await page.getByRole("link", { name: "Domains" }).click();
    await page.getByLabel("Host name").fill("GO.example.com");
    await page.getByRole("button", { name: "Add domain" }).click();
    await page.getByRole("heading", { name: HOST }).waitFor();
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByText("DNS has no TXT record").waitFor();
    const value = (await page.locator("#txt-value").textContent()) ?? "";
    zone.set(`_linkledger.${HOST}`, [{ txt: value }]);
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByText(`${HOST} is verified.`).waitFor();
    expect(await seriousViolations(page)).toEqual([]);

    await page.goto(`${portal.base}/portal/links/new`);
    await page.getByLabel("Destination").fill("https://example.com/launch");
    await page.getByLabel("Domain").selectOption({ label: HOST });
    await page.getByLabel(/slug/i).fill("Launch");
    await page.getByRole("button", { name: /shorten|create/i }).click();
    await page.getByText("is ready").waitFor();
    expect((await portal.service.ask("/launch", { host: HOST })).status).toBe(301);

    await page.goto(`${portal.base}/portal/domains/${HOST}`);
    await page.getByText("Deactivate", { exact: true }).click();
    await page.getByRole("button", { name: "Deactivate domain" }).click();
    await page.getByText("Inactive").waitFor();
    await until(
      "404 from the domain",
      async () => (await portal.service.ask("/launch", { host: HOST })).status === 404,
    );
    expect(complaints).toEqual([]);
  });
});
