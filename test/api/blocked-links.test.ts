// An abusive link stopped by the operator, by command and in the console: what visitors, owner and auditor see.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CATEGORY } from "../../src/events/streams.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { decoded, type Visitor, visitor } from "../support/portal/browser-like.ts";
import { ADMIN_TOKEN, operatorOf } from "../support/portal/operator.ts";
import { type Person, portalPeople } from "../support/portal/portal-people.ts";
import { until } from "../support/runtime/until.ts";
import { commandLine } from "../support/service/command-line.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const environment = { ADMIN_TOKEN, TRUST_PROXY: "127.0.0.1/32" };
const REASON = "Phishing <b>of a bank</b>";

let service: TestService;
let cli: ReturnType<typeof commandLine>;
let owner: Person;
let people: ReturnType<typeof portalPeople>;
let path: string;
let slug: string;

beforeAll(async () => {
  service = await startTestService(environment);
  cli = commandLine(service.config.dataDir);
  people = portalPeople(service);
  owner = await people.developer();
  path = await people.shorten(owner, "https://example.com/");
  slug = path.split("/").at(-1) ?? "";
}, 60_000);
afterAll(() => service.stop());

const status = async () => (await service.ask(`/${slug}`)).status;
const answers = (wanted: number) =>
  until(`the link to answer ${wanted}`, async () => (await status()) === wanted);
const change = async (what: string, fields: Record<string, string> = {}) =>
  await owner.post(`${path}/${what}`, fields);

describe("a link that the operator blocks", { timeout: 60_000 }, () => {
  it("answers 404 at once and counts nobody, as nobody is led on; its QR code and numbers go on", async () => {
    expect(await status()).toBe(301);
    const blocked = await cli.json("link", "block", `http://localhost/${slug}`, "--reason", REASON);
    expect(blocked).toMatchObject({ host: "localhost", slug, blocked: true });
    let led = 1;
    await until("the link to be blocked", async () => (await status()) === 404 || ++led === 0);
    const { key } = await cli.json("key", "issue", "--account", owner.accountId);
    const total = async () => {
      const { body } = await service.ask<{ analytics: { totalClicks: number } }>(
        `/api/v1/analytics/${slug}`,
        {
          key,
        },
      );
      return body.analytics.totalClicks;
    };
    for (let visits = 0; visits < 3; visits++) expect(await status()).toBe(404);
    const other = await people.developer();
    const later = (await people.shorten(other, "https://example.com/later")).split("/").at(-1);
    await service.ask(`/${later}`);
    const clicked = async () =>
      (await loggedEvents(service.backend.eventStore, { categories: [CATEGORY.clicks], limit: 100 })).map(
        ({ data }) => (data as { link: string }).link,
      );
    await until("a later hit in the log", async () => (await clicked()).includes(`localhost/${later}`));
    expect((await clicked()).filter((link) => link === `localhost/${slug}`)).toHaveLength(led);
    await until("all hits to count", async () => (await total()) === led, { everyMs: 200 });
    expect((await service.ask(`/api/qr/${slug}`)).status).toBe(200);
  });

  it("tells its owner why and since when, and can't be enabled, restored or changed", async () => {
    const page = await owner.get(path);
    expect(page.text).not.toContain("<b>of a bank");
    expect(decoded(page.text)).toContain(`<strong class="break">${REASON}</strong>`);
    expect(page.text).toContain("<strong>The operator of this service</strong> blocked this link");
    expect(page.text).not.toContain("Save changes");
    expect((await owner.get("/portal/links")).text).toContain('badge-bad">Blocked<');
    const to = { url: "https://example.org/" };
    for (const [what, fields] of [["edit", to], ["enable"], ["restore"]] as const) {
      const refused = await change(what, fields);
      expect(refused.status).toBe(409);
      expect(decoded(refused.text)).toContain(
        `The operator of this service has blocked this link: ${REASON}`,
      );
    }
    expect((await change("delete")).status).toBe(303);
    expect((await owner.get(path)).text).not.toContain("Restore link");
    expect((await change("restore")).status).toBe(409);
  });

  it("is shown to the operator with owner, state and history, and in the log as what the operator did", async () => {
    const shown = await cli.json("link", "show", `localhost/${slug}`);
    expect(shown).toMatchObject({
      ...{ short_url: `http://localhost/${slug}`, long_url: "https://example.com/", status: "deleted" },
      blocked: { reason: REASON, since: expect.any(String), legal: false },
      ...{ account_id: owner.accountId, email: expect.stringContaining("@") },
    });
    expect(shown.history.map(({ type, by, reason }: Record<string, string>) => [type, by, reason])).toEqual([
      ["LinkCreated", `person:${owner.accountId}`, undefined],
      ["LinkBlocked", "operator", REASON],
      ["LinkDeleted", `person:${owner.accountId}`, undefined],
    ]);
    expect(await cli.json("audit", "state", `link-localhost/${slug}`)).toMatchObject({
      state: { block: { reason: REASON } },
    });
    expect(await cli.refused("link", "block", slug, "--reason", " ")).toContain("A reason has 1 to 500");
    expect(await cli.refused("link", "block", "nothing-here", "--reason", "x")).toContain("not found");
    await cli.json("audit", "seal");
    expect(await cli.json("audit", "verify")).toMatchObject({ ok: true });
    expect(await cli.json("projections", "verify")).toMatchObject({ ok: true, differences: [] });
  });

  it("is again what its owner made of it once it is unblocked", async () => {
    expect(await cli.json("link", "unblock", slug)).toMatchObject({ blocked: false });
    expect((await change("restore")).status).toBe(303);
    await answers(301);
  });

  it("is as blocked as it was where its owner's export is imported", async () => {
    await cli.json("link", "block", slug, "--reason", REASON, "--legal");
    const { stdout } = await cli.linkledger(["export", "links", owner.accountId]);
    const file = join(service.config.dataDir, "links.jsonl");
    const other = "moved-here";
    await writeFile(file, stdout.replaceAll(slug, other));
    await cli.json("import", "linkledger", file, "--account", owner.accountId);
    expect((await cli.json("link", "show", other)).blocked).toMatchObject({ reason: REASON, legal: true });
    expect((await service.ask(`/${other}`)).status).toBe(451);
    await cli.json("link", "unblock", slug);
    await cli.json("audit", "seal");
    expect(await cli.json("audit", "verify")).toMatchObject({ ok: true });
  });
});

describe("the console", { timeout: 60_000 }, () => {
  let browser: Visitor;

  it("blocks a link from the page of its stream, and unblocks it", async () => {
    browser = visitor(service.port);
    await browser.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    await answers(301);
    const form = { link: `localhost/${slug}` };
    const unreasoned = await browser.follow(
      await browser.post("/admin/links/block", { ...form, reason: " " }),
    );
    expect(unreasoned.text).toContain("A reason has 1 to 500 characters");
    const blocking = { ...form, reason: "Court order", legal: "1" };
    const blocked = await browser.follow(await browser.post("/admin/links/block", blocking));
    expect(blocked.text).toContain("for a legal reason");
    expect(blocked.text).toContain("Court order");
    await answers(451);
    const free = await browser.follow(await browser.post("/admin/links/unblock", form));
    expect(free.text).toContain("no longer blocked");
    await answers(301);
  });

  it("does the same as JSON, for the operator alone", async () => {
    const api = operatorOf(service);
    const link = slug;
    const blocked = await api.post("/links/block", { link, reason: "Spam" });
    expect([blocked.status, blocked.body]).toEqual([200, expect.objectContaining({ blocked: true })]);
    await answers(404);
    expect((await api.post("/links/unblock", { link })).body).toMatchObject({ blocked: false });
    await answers(301);
    const given = { method: "POST", body: { link, reason: "x" } } as const;
    expect((await service.ask("/admin/api/links/block", given)).status).toBe(401);
  });
});
