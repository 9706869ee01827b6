import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClickKind } from "../../src/events/vocabulary.ts";
import { linkClicks } from "../../src/projections/definitions/link-clicks.ts";
import { links } from "../../src/projections/definitions/links.ts";
import { ProjectionRunner } from "../../src/projections/runner/runner.ts";
import type { ReadStore } from "../../src/read-store/port.ts";
import { linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { type AskRange, rangesOf } from "../support/projections/range-of.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";

const NOW = new Date("2026-03-01T10:30:00.000Z");
/** More than a page. */
const DAYS = 103;
const DAY_MS = 86_400_000;
const FIRST = Date.parse("2025-11-18T07:07:00.000Z");

export function rangesContract(name: string, open: () => Promise<ReadStore>): void {
  describe(`ranges of analytics: ${name}`, { timeout: 60_000 }, () => {
    let stores: Stores;
    let readStore: ReadStore;
    let ask: AskRange;
    beforeAll(async () => {
      stores = await openStores();
      readStore = await open();
      const { eventStore } = stores;
      await append(eventStore, "link-sho.rt/abc", [linkCreated()]);
      const clicks = Array.from({ length: DAYS }, (_, n) => {
        const at = new Date(FIRST + n * DAY_MS).toISOString();
        return ["click", "qr_scan"].map((kind, m) =>
          linkClicked({ kind: kind as ClickKind, at, visitor: `${m}`.repeat(16) }),
        );
      });
      // Keys that begin alike.
      const others = ["sho.rt/abcd", "sho.rt/ab"].map((link) => linkClicked({ link }));
      await append(eventStore, "clicks-w-20260301", [...clicks.flat(), ...others]);
      const log = pino({ level: "silent" });
      const projections = [links, linkClicks];
      await new ProjectionRunner({ eventStore, readStore, projections, log }).catchUp();
      ask = rangesOf({ eventStore, readStore }, NOW);
    });
    afterAll(async () => {
      await readStore.close();
      await stores.close();
    });

    it("sum all days of a link, and no other link's", async () => {
      const { totals, series, visitors } = await ask({ interval: "day", timezone: "Asia/Kathmandu" });
      expect(totals).toEqual({ click: DAYS, preview: 0, qr_scan: DAYS, total: 2 * DAYS });
      expect(series.filter(({ total }) => total === 2)).toHaveLength(DAYS);
      expect(visitors).toHaveLength(DAYS);
      expect(visitors[0]).toEqual({ day: "2025-11-18", visitors: 2, estimated: false });
    });

    it("cut the first and the last day exactly", async () => {
      const total = async (from: string, to: string) => (await ask({ from, to, kind: "click" })).totals.total;
      expect(await total("2026-01-01", "2026-02-01")).toBe(31);
      expect(await total("2026-01-01T07:07:00Z", "2026-02-01T07:07:00Z")).toBe(31);
      expect(await total("2026-01-01T07:07:00.001Z", "2026-02-01T07:07:00Z")).toBe(30);
      expect(await total("2026-01-01T07:07:00Z", "2026-02-01T07:07:00.001Z")).toBe(32);
    });

    it("have the latest hits of the range and its kinds, and the position from which live updates go on", async () => {
      const { recent, position, leftOut, everHit } = await ask({ from: "2026-02-24", kind: "click" });
      const days = [28, 27, 26, 25, 24].map((day) => `2026-02-${day}T07:07:00.000Z`);
      expect(recent.map(({ at, type }) => [at, type])).toEqual(days.map((at) => [at, "click"]));
      expect([leftOut, everHit]).toEqual([5, true]);
      expect(position).toBe(await stores.eventStore.head());
      const before = await ask({ from: "2020-01-01", to: "2020-01-02" });
      expect([before.totals.total, before.recent, before.everHit]).toEqual([0, [], true]);
    });

    it("travel to any position", async () => {
      const events = await stores.eventStore.readAll({ categories: ["clicks"], limit: 2 * DAYS });
      for (const n of [0, 1, 101, 2 * DAYS - 1]) {
        const { totals } = await ask({ as_of: events[n]?.position });
        expect(totals.total).toBe(n + 1);
      }
    });
  });
}
