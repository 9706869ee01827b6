// Why a number changed, by the API and by command: what was clicked, withdrawn and restored between two moments.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { restoreClicks, withdrawClicks } from "../../src/commands/withdrawals/withdraw-clicks.ts";
import { matchingClicks } from "../../src/queries/audit/matching-clicks.ts";
import { operator } from "../support/commands/command-deps.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { until } from "../support/runtime/until.ts";
import { commandLine } from "../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

type Hits = { total: number; click: number; preview: number; qr_scan: number };
type Change = Hits & { reason: string; withdrawal?: { reason: string; withdrawn: { by: string } } };
type Changes = {
  since: { position: string };
  until: { position: string };
  before: Hits;
  after: Hits;
  changes: Change[];
};

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
let service: TestService;
let member: Member;
let slug: string;
const moments: string[] = [];

const visit = (agent: string, path = slug) => service.ask(`/${path}`, { headers: { "user-agent": agent } });
const changes = (query: string, path = `/api/v1/analytics/${slug}/changes`, key = member.key) =>
  service.ask<Changes & { code: string; error: string }>(`${path}?${query}`, { key });
const head = async () => String(await service.backend.eventStore.head());
const recorded = async (clicks: number) => {
  await until("the clicks", async () => {
    const events = await loggedEvents(service.backend.eventStore, { categories: ["clicks"], limit: 1_000 });
    return events.length === clicks;
  });
  moments.push(await head());
};

beforeAll(async () => {
  service = await startTestService();
  member = await service.member("developer");
  slug = await service.shorten(member.key, { url: "https://example.com/" });
  moments.push(await head());
  for (const agent of [BROWSER, BROWSER, "curl/8.0"]) await visit(agent);
  await recorded(3);
  const deps = {
    ...runtimeDeps,
    ...service.backend,
    matchingClicks: (...asked: [address: { host: string; slug: string }, selection: never]) =>
      matchingClicks(service.backend, ...asked),
  };
  const address = { host: "localhost", slug };
  const { withdrawalId } = await withdrawClicks(deps as never, operator, address, {
    userAgent: "firefox",
    reason: "Our own tests",
  });
  moments.push(await head());
  await visit(BROWSER);
  await recorded(4);
  await restoreClicks(deps, operator, address, withdrawalId);
  moments.push(await head());
}, 60_000);
afterAll(() => service.stop());

describe("why a number changed", () => {
  const hits = (click: number, preview: number) => ({ total: click + preview, click, preview, qr_scan: 0 });

  it("is told by what was added, withdrawn and restored, with who and why", async () => {
    const [made, clicked, withdrawn, again, restored] = moments as [string, string, string, string, string];
    const between = async (since: string, end: string) => (await changes(`since=${since}&until=${end}`)).body;
    expect(await between(made, clicked)).toMatchObject({
      ...{ before: hits(0, 0), after: hits(2, 1) },
      changes: [{ reason: "added", ...hits(2, 1) }],
    });
    // What was recorded and withdrawn in between is in neither number.
    expect(await between(made, withdrawn)).toMatchObject({
      ...{ before: hits(0, 0), after: hits(0, 1) },
      changes: [
        { reason: "added", ...hits(2, 1) },
        { reason: "withdrawn", ...hits(-2, 0) },
      ],
    });
    expect(await between(clicked, withdrawn)).toMatchObject({
      ...{ before: hits(2, 1), after: hits(0, 1) },
      changes: [
        {
          ...{ reason: "withdrawn", ...hits(-2, 0) },
          withdrawal: {
            reason: "Our own tests",
            withdrawn: { by: "operator" },
            restored: { by: "operator" },
          },
        },
      ],
    });
    const all = await between(withdrawn, restored);
    expect(all).toMatchObject({ before: hits(0, 1), after: hits(3, 1) });
    expect(all.changes.map(({ reason, total }) => [reason, total])).toEqual([
      ["added", 1],
      ["restored", 2],
    ]);
    expect((await between(again, again)).changes).toEqual([]);
    const account = await changes(`since=${made}`, "/api/v1/changes");
    expect(account.body).toMatchObject({ before: hits(0, 0), after: hits(3, 1) });
  });

  it("comes to what the analytics of the link say, by times, too", async () => {
    const { body } = await changes("since=2020-01-01&until=2020-01-02");
    expect(body).toMatchObject({ before: hits(0, 0), after: hits(0, 0), changes: [] });
    const since = await changes("since=2020-01-01");
    await until("the numbers", async () => {
      const answer = await service.ask<{ analytics: { totalClicks: number } }>(`/api/v1/analytics/${slug}`, {
        key: member.key,
      });
      return answer.body.analytics.totalClicks === since.body.after.total;
    });
    expect(since.body.after).toEqual(hits(3, 1));
    const range = await changes("since=2020-01-01&from=2020-01-01&to=2020-06-01");
    expect(range.body).toMatchObject({ after: hits(0, 0), changes: [] });
  });

  it("is refused for what is no moment, and for another's link", async () => {
    for (const [query, code] of [
      ["", "invalid_request"],
      ["since=yesterday", "invalid_range"],
      ["since=2090-01-01", "invalid_range"],
      ["since=2026-02-01&until=2026-01-01", "invalid_range"],
      ["since=2026-01-01&until=2090-01-01", "invalid_range"],
      ["since=00000000099999999999", "invalid_position"],
      ["since=2026-01-01&from=2026-02-01&to=2026-01-01", "invalid_range"],
      ["since=2026-01-01&timezone=Mars", "invalid_range"],
    ] as const) {
      const { status, body } = await changes(query);
      expect([query, status, body.code]).toEqual([query, 400, code]);
    }
    const [other, free] = [await service.member("developer"), await service.member("free")];
    const path = `/api/v1/analytics/${slug}/changes`;
    expect((await changes("since=2026-01-01", path, other.key)).status).toBe(403);
    expect((await changes("since=2026-01-01", "/api/v1/changes", free.key)).status).toBe(402);
  });

  it("is told by a command, of a link and of its account", { timeout: 60_000 }, async () => {
    const cli = commandLine(service.config.dataDir);
    const [made = ""] = moments;
    const { body } = await changes(`since=${made}&until=${moments.at(-1)}`);
    const last = moments.at(-1) as string;
    expect(await cli.json("clicks", "why", slug, "--since", made, "--until", last)).toEqual(body);
    const whole = await cli.json("clicks", "why", slug, "--since", made, "--until", last, "--whole-account");
    expect(whole).toEqual(body);
    expect(await cli.refused("clicks", "why", slug, "--since", "soon")).toContain("since must be a time");
  });
});
