// The contract of builds under the present rules on every read store: they wait, take over together, and can be left.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PRESENT_RULES as RULES } from "../../src/events/classification/classify.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { activateBuilds } from "../../src/projections/builds/activate-build.ts";
import { changeBuilds, readBuilds } from "../../src/projections/builds/builds-document.ts";
import { prepareReclassified, rollBack } from "../../src/projections/builds/finish-builds.ts";
import { accountDays, type DayDocument } from "../../src/projections/definitions/days/days.ts";
import { movedClicks } from "../../src/projections/fold/moved-clicks.ts";
import { clickProjections } from "../../src/projections/groups.ts";
import { verifyProjections } from "../../src/projections/verify/verify-projections.ts";
import { addHits, hitCounts } from "../../src/queries/analytics/sums.ts";
import { openSqliteReadStore } from "../../src/stores/read-store/sqlite/read-store.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { type BuildsFixture, CLICKS, happenings, LINK, programOn } from "../support/projections/builds-of.ts";
import { clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { append } from "../support/runtime/stores.ts";

const OLDER = "1, isbot@1.0.0, ua-parser-js@1.0.0";

export function reclassifiedBuildsContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`builds under other rules: ${name}`, () => {
    let stores: BuildsFixture;
    let program: ReturnType<typeof programOn>;
    beforeEach(async () => {
      stores = await open();
      program = programOn(stores, clickProjections);
      await program.register();
      // Recorded under rules 1 as clicks and scans of Firefox; the present rules take a bare `Mozilla/5.0` for a program.
      await happenings(stores.eventStore);
      await program.catchUp();
    });
    afterEach(() => stores.cleanUp());

    const prepare = () => prepareReclassified(program.deps, clickProjections, RULES);
    /** As if an earlier program had made the builds under its rules, which said of each click what was recorded. */
    const madeUnder = (rules: string, which: "active" | "building") =>
      changeBuilds(program.deps, ({ projections }) => {
        for (const one of Object.values(projections)) Object.assign(one[which] ?? {}, { rules });
      });
    const activate = async (work = async () => undefined as unknown) => {
      await activateBuilds(program.deps, clickProjections);
      await program.projecting(async () => {
        await expect.poll(active).toBe(RULES);
        await work();
      });
    };
    const active = async () => (await readBuilds(stores.readStore)).projections["link-clicks"]?.active?.rules;
    const click = (fields: Parameters<typeof linkClicked>[0] = {}) =>
      append(stores.eventStore, CLICKS, [linkClicked({ link: LINK, ...fields })]);
    const verify = async () => {
      const scratch = await openSqliteReadStore("");
      const deps = { ...program.deps, scratch, random: () => 0.5 };
      return await verifyProjections(deps, clickProjections).finally(() => scratch.close());
    };

    const RECORDED = { click: 14, preview: 13, qr_scan: 13 };
    const MOVED = { click: 0, preview: 27, qr_scan: 13 };

    it("change nothing before they are activated, everything after, and nothing after a rollback", async () => {
      const { builds, events } = await prepare();
      expect(events).toBe(800);
      expect(builds.every(({ active: isActive, build }) => !isActive && build === 1)).toBe(true);
      expect(await program.totals()).toMatchObject(RECORDED);
      // A projector leaves builds alone that wait.
      await click({ kind: "preview" });
      await program.projecting(() => expect.poll(program.totals).toMatchObject({ totalClicks: 41 }));
      expect(await active()).toBeUndefined();
      await activate();
      expect(await program.totals()).toMatchObject({ ...MOVED, preview: 28, totalClicks: 41 });
      expect(await program.breakdowns()).toMatchObject({
        browsers: [["unknown", 41]],
        devices: [["bot", 41]],
      });
      expect(await verify()).toMatchObject({ ok: true, differences: [], sums: [], unverified: [] });
      await rollBack(program.deps, clickProjections);
      expect(await program.totals()).toMatchObject({ ...RECORDED, preview: 14 });
      expect(await program.breakdowns()).toMatchObject({ browsers: [["Firefox", 41]] });
    });

    it("say what moves, without the clicks that are withdrawn", async () => {
      const all = await movedClicks(stores, RULES);
      expect(all).toMatchObject({ clicks: 800, moved: 800, others: 0 });
      expect(all.of).toEqual(
        expect.arrayContaining([
          { field: "kind", from: "click", to: "preview", clicks: 280 },
          { field: "device", from: "desktop", to: "bot", clicks: 800 },
          { field: "browser", from: "Firefox", to: "unknown", clicks: 800 },
          { field: "os", from: "Linux", to: "unknown", clicks: 800 },
        ]),
      );
      await append(stores.eventStore, withdrawalStream(LINK), [clicksWithdrawn({ link: LINK }, 1)]);
      expect(await movedClicks(stores, RULES)).toMatchObject({ clicks: 760, moved: 760 });
    });

    it("take withdrawn clicks out by the kind that they have there", async () => {
      await prepare();
      await activate(async () => {
        const times = { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" };
        await append(stores.eventStore, withdrawalStream(LINK), [clicksWithdrawn({ link: LINK }, 1, times)]);
        await expect.poll(program.totals).toMatchObject({ totalClicks: 32, click: 0 });
      });
      expect(await verify()).toMatchObject({ ok: true, differences: [], sums: [], unverified: [] });
    });

    it("are made again by a program with other rules, which takes no withdrawn click out of the older ones", async () => {
      await madeUnder(OLDER, "active");
      const totalsIn = async (which: "active" | "previous") => {
        const build = (await readBuilds(stores.readStore)).projections[accountDays.name]?.[which];
        const days = await stores.readStore.find<DayDocument>(build?.collection ?? "", { limit: 100 });
        const hits = hitCounts();
        for (const quarter of days.flatMap(({ quarters }) => quarters)) addHits(hits, quarter, CLICK_KINDS);
        return hits;
      };
      const before = await totalsIn("active");
      expect(before).toMatchObject({ click: 280, preview: 260, qr_scan: 260 });
      for (let n = 0; n < 20; n++) {
        const withdrawn = clicksWithdrawn({ link: `sho.rt/l${n}` }, 1);
        await append(stores.eventStore, withdrawalStream(`sho.rt/l${n}`), [withdrawn]);
      }
      await program.projecting(async () => {
        await expect.poll(active).toBe(RULES);
        await click();
        await expect.poll(() => totalsIn("active")).toMatchObject({ click: 0, preview: 1, qr_scan: 0 });
      });
      expect(await totalsIn("previous")).toEqual(before);
      expect(await verify()).toMatchObject({ ok: true, unverified: [] });
    });
  });
}
