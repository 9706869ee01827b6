// An auditor's day in a real browser: which key did what, one request's events, an event raw, a link then and now, the seals.
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { notedSeal } from "../../src/audit/seals/noted-seal.ts";
import { sealKeysFrom } from "../../src/audit/seals/seal-keys.ts";
import { Sealer } from "../../src/audit/seals/sealer.ts";
import { applyLinkChange } from "../../src/commands/links/change-link.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { ADMIN_TOKEN } from "../support/portal/operator.ts";
import { inChromiumAtLength, portalBrowser, showing } from "../support/portal/portal-browser.ts";
import { complaintsOf, seriousViolations } from "../support/servers/chromium.ts";
import type { Member } from "../support/service/start-service.ts";

inChromiumAtLength(() => {
  const portal = portalBrowser({ ADMIN_TOKEN });
  let page: Page;
  let complaints: string[];
  let member: Member;
  let slugs: string[];

  beforeAll(async () => {
    const { service } = portal;
    member = await service.member("developer");
    const links = ["one", "two", "three"].map((name) => ({ url: `https://example.com/${name}` }));
    const headers = { "x-request-id": "campaign-of-spring" };
    type Bulk = { results: { slug: string; short_url: string }[] };
    const { body } = await service.post<Bulk>("/api/v1/shorten/bulk", member.key, { links }, { headers });
    slugs = body.results.map(({ slug, short_url }) => slug ?? short_url.split("/").at(-1) ?? "");
    const context = { requestId: "in-the-portal", actor: { type: "person", id: member.accountId } } as const;
    const address = { host: "localhost", slug: slugs[1] as string };
    const deps = { ...runtimeDeps, eventStore: service.backend.eventStore };
    const change = (to: Parameters<typeof applyLinkChange>[4]) =>
      applyLinkChange(deps, context, member.accountId, address, to);
    await change({ type: "retarget", to: "https://example.com/moved" });
    await change({ type: "disable" });
    await portal.follow(`${portal.base}/${slugs[0]}`);

    const { eventStore, foldStore } = service.backend;
    const keys = sealKeysFrom(service.config);
    const sealer = await Sealer.open({ ...runtimeDeps, eventStore, keys, noted: notedSeal(foldStore) });
    while (await sealer.read());
    await sealer.seal();

    page = await portal.visitor();
    complaints = complaintsOf(page);
    await page.goto(`${portal.base}/admin`);
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Console", level: 1 }).waitFor();
    const all = `${portal.base}/admin/events?account=${member.accountId}`;
    await showing(page, all, "every event", (text) => text.includes("LinkDisabled"));
  });

  const looksRight = async (name: string) => {
    expect(await seriousViolations(page), name).toEqual([]);
  };
  const types = () => page.locator("table strong").allTextContents();

  it("finds which key did what, and follows the request that did it", async () => {
    await page.getByRole("link", { name: "Find events" }).first().click();
    await page.getByLabel("Actor").fill(`key:${member.keyId}`);
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Events found" }).waitFor();
    expect(await types()).toEqual(["LinkCreated", "LinkCreated", "LinkCreated"]);
    await looksRight("found-by-key");
    await page.getByRole("link", { name: "LinkCreated" }).first().click();
    await page.getByRole("heading", { name: "LinkCreated", level: 1 }).waitFor();
    await page.getByText(`ends in ${member.key.slice(-4)}`).waitFor();
    await page.getByRole("link", { name: "campaign-of-spring" }).click();
    await page.waitForURL(/correlation_id=campaign-of-spring/);
    expect(await types()).toHaveLength(3);
    await page.getByLabel("Account").fill(member.accountId);
    await page.getByLabel("Type").selectOption("KeyIssued");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No event is like that").waitFor();
    await page.getByRole("link", { name: "Clear" }).click();
    await page.getByRole("table", { name: "Events found" }).waitFor();
  });

  it("reads an event, explained and raw, without what is nobody's business", async () => {
    await page.goto(`${portal.base}/admin/streams`);
    await page.getByRole("link", { name: `account-${member.accountId}` }).click();
    expect(await types()).toEqual(["KeyIssued", "AccountOpened"]);
    await looksRight("stream");
    await page.getByRole("link", { name: "KeyIssued" }).click();
    const about = page.getByRole("row", { name: /^keyId/ });
    expect(await about.textContent()).toContain("The API key's id, which is not the key");
    const raw = JSON.parse((await page.getByLabel("The event as JSON").textContent()) ?? "");
    expect(raw).toMatchObject({
      ...{ type: "KeyIssued", revision: 1, schema_version: 1, actor: { type: "operator" } },
      ...{ data: { keyId: member.keyId, keyHash: "(withheld)" }, withheld: ["keyHash"] },
    });
    await looksRight("event");
    await page.getByRole("link", { name: "Earlier event" }).click();
    await page.getByRole("heading", { name: "AccountOpened" }).waitFor();
  });

  it("compares a link at two revisions", async () => {
    await page.goto(`${portal.base}/admin/streams?category=link`);
    await page.getByRole("link", { name: `link-localhost/${slugs[1]}` }).click();
    expect(await types()).toEqual(["LinkDisabled", "LinkRetargeted", "LinkCreated"]);
    await page.getByRole("link", { name: "State", exact: true }).click();
    await page.getByRole("heading", { name: "State after revision 2" }).waitFor();
    const difference = page.getByRole("table", { name: "Difference" });
    expect(await difference.getByRole("row", { name: /^status/ }).textContent()).toMatch(/live.*disabled/);
    expect(await difference.getByRole("row", { name: /^longUrl/ }).count()).toBe(0);
    await page.getByLabel("Compared with").fill("0");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Difference to revision 0" }).waitFor();
    const moved = await difference.getByRole("row", { name: /^longUrl/ }).textContent();
    expect(moved).toMatch(/example\.com\/two.*example\.com\/moved/);
    await looksRight("state");
  });

  it("finds a click by its hour, and reads on in the log from its position", async () => {
    const hours = `${portal.base}/admin/streams?category=clicks`;
    await showing(page, hours, "the hour", (text) => text.includes("Hits recorded"));
    await looksRight("click-hours");
    await page.locator("table strong").first().click();
    await page.getByRole("table", { name: "Hits" }).getByRole("link").first().click();
    await page.getByRole("heading", { name: "LinkClicked", level: 1 }).waitFor();
    expect(await page.getByRole("row", { name: /^link\s/ }).textContent()).toContain(slugs[0]);
    await page.getByRole("link", { name: /^0{10}/ }).click();
    await page.getByRole("heading", { name: "The log" }).waitFor();
    expect((await types())[0]).toBe("LinkClicked");
    await looksRight("log");
  });

  it("checks the seals", async () => {
    await page.getByRole("link", { name: "Seals" }).first().click();
    expect(await page.getByRole("row", { name: /^0/ }).textContent()).toMatch(/this service.*Good/s);
    await page.getByRole("button", { name: "Verify every event" }).click();
    await page.getByText("The log is being verified.").waitFor();
    await page.getByText("Proved: no changes found").waitFor();
    await looksRight("seals-verified");
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("LogVerified").waitFor();
    expect(complaints).toEqual([]);
  });
});
