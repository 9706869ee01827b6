// `projections reclassify` beside a running service: prints what moves, takes over, and is rolled back.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PRESENT_RULES as RULES } from "../../../src/events/classification/classify.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/** A key may ask 500 times an hour. */
const SELDOM = { everyMs: 200 };

let service: TestService;
let cli: ReturnType<typeof commandLine>;
let key: string;
let slug: string;

beforeAll(async () => {
  service = await startTestService();
  cli = commandLine(service.config.dataDir);
  const member = await service.member("developer");
  key = member.key;
  slug = (await service.post<{ slug: string }>("/api/v1/shorten", key, { url: "https://example.com/" })).body
    .slug;
  await service.ask(`/${slug}`, { headers: { "user-agent": FIREFOX } });
  // As an earlier program recorded them, whose list of programs had no curl.
  const old = { link: `localhost/${slug}`, accountId: member.accountId, rules: "2, isbot@4.0.0" };
  const curl = { userAgent: "curl/8.0", browser: { name: "curl", version: "8.0" }, referrer: undefined };
  const clicks = Array.from({ length: 6 }, () => linkClicked({ ...old, ...curl }));
  await append(service.backend.eventStore, "clicks-0123456789-20260301", clicks);
  await until("all clicks", async () => (await kinds()).join() === "7,0", SELDOM);
}, 60_000);
afterAll(() => service.stop());

/** All, or those of a range. */
async function kinds(range = ""): Promise<[clicks: number, previews: number]> {
  type Answer = { analytics: { actualClicks: number; previews: number } };
  const { body } = await service.ask<Answer>(`/api/v1/analytics/${slug}${range}`, { key });
  return [body.analytics.actualClicks, body.analytics.previews];
}

/** By the API and by command. */
async function exported(): Promise<[clicks: number, previews: number][]> {
  const { text } = await service.ask("/api/v1/clicks/export?format=ndjson", { key });
  const { stdout } = await cli.linkledger(["export", "clicks", "--from", "2026-03-01"]);
  return [text, stdout].map((file) => {
    const lines = file.split("\n").filter((line) => line !== "");
    const types = lines.map((line): string => JSON.parse(line).type);
    return [
      types.filter((type) => type === "click").length,
      types.filter((type) => type === "preview").length,
    ];
  });
}

const active = async () => {
  const { projections } = await cli.json("projections", "status");
  return projections.find(({ name }: { name: string }) => name === "clicks").active;
};

describe("clicks that are classified again", { timeout: 60_000 }, () => {
  it("are counted by what moves, and nothing is answered otherwise yet", async () => {
    const built = await cli.json("projections", "reclassify", "--dry-run");
    expect(built).toMatchObject({ rules: RULES, clicks: 7, moved: 6, other_moves: 0 });
    expect(built.moves).toEqual([
      { field: "browser", from: "curl", to: "unknown", clicks: 6 },
      { field: "device", from: "desktop", to: "bot", clicks: 6 },
      { field: "kind", from: "click", to: "preview", clicks: 6 },
      { field: "os", from: "Linux", to: "unknown", clicks: 6 },
    ]);
    expect(await kinds()).toEqual([7, 0]);
    expect(await active()).toMatchObject({ rules: null, outdated: false });
  });

  it("are answered once all are classified, by rules that the status names", async () => {
    const { builds } = await cli.json("projections", "reclassify");
    expect(builds).toMatchObject([{ name: "clicks" }]);
    await until("the builds to take over", async () => (await kinds()).join() === "1,6", SELDOM);
    expect(await active()).toMatchObject({ rules: RULES, outdated: false });
    expect(await kinds("/range?from=2026-03-01T10:10:00Z&to=2026-03-01T10:16:00Z")).toEqual([0, 6]);
    expect(await kinds("/range?from=2026-03-01&to=2026-03-02")).toEqual([0, 6]);
    expect(await exported()).toEqual([
      [1, 6],
      [1, 6],
    ]);
    await service.ask(`/${slug}`, { headers: { "user-agent": FIREFOX } });
    await until("the next click", async () => (await kinds()).join() === "2,6", SELDOM);
    expect(await cli.json("projections", "verify")).toMatchObject({ ok: true });
  });

  it("are as recorded again after a rollback", async () => {
    await cli.json("projections", "rollback", "clicks");
    await until("the builds of before", async () => (await kinds()).join() === "8,0", SELDOM);
    expect(await exported()).toEqual([
      [8, 0],
      [8, 0],
    ]);
    const { stdout } = await cli.linkledger(["audit", "events", "--category", "operator", "--json"]);
    const requested = JSON.parse(stdout).events.map(({ type, data }: { type: string; data: object }) => [
      type,
      data,
    ]);
    expect(requested[0]).toEqual([
      "ProjectionRebuildRequested",
      expect.objectContaining({ projections: ["clicks"], rules: RULES }),
    ]);
  });
});
