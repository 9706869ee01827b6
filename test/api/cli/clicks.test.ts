// Clicks withdrawn on a running service by the command line: every number goes down, and comes back.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const HEADLESS =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0 Safari/537.36";

type Analytics = { totalClicks: number; actualClicks: number; hourlyClicks: Record<string, number> };

/** A key may ask 500 times an hour. */
const SELDOM = { everyMs: 200 };

let service: TestService;
let cli: ReturnType<typeof commandLine>;
let owner: Person;
let key: string;
let path: string;
let slug: string;
let today: string;

beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  cli = commandLine(service.config.dataDir);
  const people = portalPeople(service);
  owner = await people.developer();
  key = (await cli.json("key", "issue", "--account", owner.accountId)).key;
  path = await people.shorten(owner, "https://example.com/");
  slug = path.split("/").at(-1) ?? "";
  for (let n = 0; n < 5; n++) await people.follow(path, { "user-agent": FIREFOX });
  for (let n = 0; n < 7; n++)
    await people.follow(path, { "user-agent": HEADLESS, "x-forwarded-for": "203.0.113.9" });
  await until("all clicks", async () => (await total()) === 12, SELDOM);
  today = new Date().toISOString().slice(0, 10);
}, 60_000);
afterAll(() => service.stop());

async function analytics(): Promise<Analytics> {
  const { body } = await service.ask<{ analytics: Analytics }>(`/api/v1/analytics/${slug}`, { key });
  return body.analytics;
}

const total = async () => (await analytics()).totalClicks;
const exported = async () => {
  const { stdout } = await cli.linkledger(["export", "clicks", "--account", owner.accountId]);
  return stdout.trimEnd().split("\n").length;
};
const ofAccount = async () => {
  const { stdout } = await cli.linkledger(["export", "account", owner.accountId]);
  return stdout.split("\n").filter((line) => line.startsWith('{"type":"click"')).length;
};

describe("clicks of a link", { timeout: 60_000 }, () => {
  const ofHeadless = () => [slug, "--from", today, "--user-agent", "headlesschrome"];
  let withdrawalId: string;

  it("are shown before they go", async () => {
    const shown = await cli.json("clicks", "withdraw", ...ofHeadless(), "--dry-run");
    expect(shown).toMatchObject({
      ...{ dry_run: true, user_agent: "headlesschrome", clicks: 7, withdrawn_before: 0 },
      kinds: { click: 0, preview: 7, qr_scan: 0 },
      days: { [today]: 7 },
    });
    expect(shown.samples).toHaveLength(5);
    expect(shown.samples[0]).toMatchObject({ kind: "preview", ip: "203.0.113.0", user_agent: HEADLESS });
    expect(await total()).toBe(12);
  });

  it("go from all numbers and exports, while the events stay", async () => {
    const link = `http://localhost:3000/${slug}`;
    const made = await cli.json(
      ...["clicks", "withdraw", link, ...ofHeadless().slice(1), "--reason", "Load test <b>7</b>"],
    );
    expect(made).toMatchObject({ clicks: 7, withdrawn_before: 0 });
    withdrawalId = made.withdrawal_id;
    await until("the clicks to go", async () => (await total()) === 5, SELDOM);
    const { actualClicks, hourlyClicks } = await analytics();
    expect(actualClicks).toBe(5);
    expect(Object.values(hourlyClicks).reduce((sum, n) => sum + n)).toBe(5);
    expect([await exported(), await ofAccount()]).toEqual([5, 5]);
    const csv = await owner.get(
      `/portal/analytics/clicks.csv?link=localhost/${path.split("/").at(-1)}&range=12mo`,
    );
    expect(csv.text.trimEnd().split("\r\n")).toHaveLength(6);
    const { stdout } = await cli.linkledger(["audit", "events", "--category", "clicks", "--json"]);
    expect(JSON.parse(stdout).events).toHaveLength(12);
    await cli.json("audit", "seal");
    expect(await cli.json("audit", "verify")).toMatchObject({ ok: true });
    expect(await cli.json("projections", "verify")).toMatchObject({ ok: true, differences: [] });
  });

  it("are in the link's history and in the owner's feed, with the reason", async () => {
    const { text } = await owner.get(path);
    expect(text).not.toContain("<b>7</b>");
    expect(decoded(text)).toContain("took hits out of the numbers, 7 in all: Load test <b>7</b>");
    expect(text).toContain("The operator of this service");
    type Feed = { events: { subject: string; data: object; actor: object }[] };
    const { body } = await service.ask<Feed>("/api/v1/events?types=ClicksWithdrawn", { key });
    expect(body.events).toMatchObject([
      {
        subject: `link/localhost/${slug}`,
        actor: { type: "operator" },
        data: { withdrawalId, clicks: { click: 0, preview: 7, qr_scan: 0 } },
      },
    ]);
  });

  it("don't go twice", async () => {
    expect(await cli.refused("clicks", "withdraw", ...ofHeadless(), "--reason", "again")).toContain(
      "All 7 clicks that this names are withdrawn already",
    );
    const both = await cli.json("clicks", "withdraw", slug, "--from", today, "--dry-run");
    expect(both).toMatchObject({ clicks: 5, withdrawn_before: 7 });
  });

  it("come back, once", async () => {
    expect(await cli.json("clicks", "restore", slug, withdrawalId)).toMatchObject({ restored: true });
    await until("the clicks to come back", async () => (await total()) === 12, SELDOM);
    expect([await exported(), await ofAccount()]).toEqual([12, 12]);
    expect(await cli.refused("clicks", "restore", slug, withdrawalId)).toContain("was taken back at");
    const { withdrawals } = await cli.json("clicks", "withdrawals", slug);
    expect(withdrawals).toMatchObject([
      {
        withdrawal_id: withdrawalId,
        clicks: 7,
        restored_at: expect.any(String),
        user_agent: "headlesschrome",
      },
    ]);
  });

  it("say in one line what is wrong with the call", async () => {
    const wrong = (...args: string[]) => cli.refused("clicks", "withdraw", ...args);
    expect(await wrong("nothing-here", "--from", today, "--reason", "x")).toContain("not found");
    expect(await wrong(slug, "--from", today)).toContain("--reason");
    expect(await wrong(slug, "--from", today, "--ip-prefix", "203.0.113.7/32", "--reason", "x")).toContain(
      "/24",
    );
    expect(await wrong(slug, "--from", "2026-02-01", "--to", "2026-01-01", "--reason", "x")).toContain(
      "before",
    );
    expect(await wrong("https://", "--from", today, "--reason", "x")).toContain("names no link");
  });
});
