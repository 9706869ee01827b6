// `projections rebuild`, `cancel`, `rollback` and `verify` beside a running service.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBuilds } from "../../../src/projections/builds/builds-document.ts";
import { checkpointName } from "../../../src/projections/fold/build.ts";
import { clicks as clickGroup, lifecycle } from "../../../src/projections/groups.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

/** A key may ask 500 times an hour. */
const SELDOM = { interval: 200 };

type Row = { name: string; version: number; build: number; state: string };

describe("the projections of a running service", () => {
  let service: TestService;
  let command: ReturnType<typeof commandLine>;
  let key: string;
  let slug: string;

  beforeAll(async () => {
    service = await startTestService();
    command = commandLine(service.config.dataDir);
    ({ key } = await service.member("developer"));
    ({
      body: { slug },
    } = await service.post<{ slug: string }>("/api/v1/shorten", key, { url: "https://example.com/" }));
    for (let n = 0; n < 5; n++) await service.ask(`/${slug}`);
  });
  afterAll(() => service.stop());

  const clicks = async () => {
    const path = `/api/v1/analytics/${slug}`;
    const { body } = await service.ask<{ analytics: { totalClicks: number } }>(path, { key });
    return body.analytics?.totalClicks;
  };
  const rows = async (): Promise<Row[]> => (await command.json("projections", "status")).projections;

  it("are rebuilt, all by default, while it answers as before, and then count on", async () => {
    await expect.poll(clicks, SELDOM).toBe(5);
    const answer = await command.json("projections", "rebuild");
    expect(answer).toMatchObject({ seconds: expect.any(Number) });
    expect(answer.builds).toMatchObject([
      { name: "lifecycle", version: lifecycle.version, build: 1, previous: 0 },
      { name: "clicks", version: clickGroup.version, build: 1, previous: 0, documents: 4, events: 5 },
    ]);
    expect(answer.builds[0].events).toBeGreaterThan(2);
    expect(await clicks()).toBe(5);
    await service.ask(`/${slug}`);
    await expect.poll(clicks, SELDOM).toBe(6);
    // Within half a second of the switch, the previous builds may still be read.
    const states = async () => [...new Set((await rows()).map(({ state }) => state))];
    await expect.poll(states).toEqual(["current"]);
    for (const row of await rows())
      expect(row).toMatchObject({
        ...{ build: 1, state: "current", building: null },
        active: { version: row.version, build: 1 },
        previous: { version: row.version, build: 0 },
      });
  });

  it("are rebuilt by name, and rolled back", async () => {
    const { builds } = await command.json("projections", "rebuild", "clicks");
    expect(builds.map((row: Row) => [row.name, row.build])).toEqual([["clicks", 2]]);
    expect(await command.json("projections", "rollback", "clicks")).toMatchObject({
      builds: [{ name: "clicks", version: clickGroup.version, build: 1, previous: 2 }],
    });
    expect(await clicks()).toBe(6);
  });

  it("have nothing to cancel while none is built", async () => {
    expect(await command.json("projections", "cancel")).toEqual({ cancelled: [] });
  });

  it("are verified against the log, and a number that was changed by hand is named", async () => {
    const found = await command.json("projections", "verify");
    expect(found).toMatchObject({ ok: true, differences: [], seconds: expect.any(Number) });
    expect(found.groups).toHaveLength((await rows()).length);
    const { active } = await readBuilds(service.backend.foldStore, clickGroup);
    const suffix = checkpointName(clickGroup, active ?? { build: 0 }).slice(clickGroup.name.length);
    const file = new DatabaseSync(join(service.config.dataDir, "read.db"));
    const set = (total: number) =>
      file.exec(
        `UPDATE "docs_link-totals${suffix}" SET fields = json_set(fields, '$.totalClicks', ${total})`,
      );
    try {
      set(7);
      const outcome = await command.linkledger(["projections", "verify", "clicks"]);
      expect(outcome.code).toBe(1);
      expect(outcome.stdout).toMatch(/link-totals localhost\/\w+: different; totalClicks is 7, by the log 6/);
    } finally {
      set(6);
      file.close();
    }
  });

  it("come from a log in which `audit verify` finds nothing, and which an anchor binds", async () => {
    await command.json("audit", "seal");
    const found = await command.json("audit", "verify");
    expect(found).toMatchObject({ ok: true, events: 14, problem_count: 0, problems: [] });
    expect(found.types).toMatchObject({ ProjectionRebuildRequested: 3, ProjectionRolledBack: 1 });
    const later = await command.json("audit", "verify", "--anchor", found.anchor);
    expect(later.anchor).toBe(found.anchor);
    const forged = found.anchor.replace(/.$/, (last: string) => (last === "0" ? "1" : "0"));
    const outcome = await command.linkledger(["audit", "verify", "--anchor", forged, "--json"]);
    expect(outcome.code).toBe(1);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ ok: false, problems: [{ check: "seal" }] });
    expect(await command.refused("audit", "verify", "--anchor", "yesterday")).toContain("An anchor is what");
  });

  it("are named in the refusal of a name that there is not", async () => {
    const refusal = await command.refused("projections", "rebuild", "cliks");
    expect(refusal).toMatch(/no projections cliks; did you mean clicks\? there are lifecycle and clicks/);
  });
});
