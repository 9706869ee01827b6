// The position before a given time: close to it, and never after a click of that time.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clickHours } from "../../../../src/projections/definitions/click-hours.ts";
import { positionBefore } from "../../../../src/queries/analytics/log-positions.ts";
import { START } from "../../../../src/stores/event-store/port.ts";
import { linkClicked, position, stored } from "../../../support/event-store/stored-events.ts";
import { clickHoursOf } from "../../../support/projections/click-hours.ts";
import { effort } from "../../../support/runtime/effort.ts";
import { openStores, putDocuments } from "../../../support/runtime/stores.ts";

/** The n-th event of the log, recorded at `time` of the day. */
const recordedAt = (n: number, time: string) => ({
  ...stored(n, linkClicked()),
  recordedAt: `2026-03-01T${time}:00.000Z`,
});
const log = [
  recordedAt(1, "08:00"),
  recordedAt(2, "08:59"),
  recordedAt(3, "10:00"),
  recordedAt(4, "10:30"),
  recordedAt(5, "12:15"),
];

describe("the log of clicks", () => {
  it("is known to begin and end each hour at its first and last click", async () => {
    const hours = await clickHoursOf(log);
    expect(hours.map(({ hour, clicks, first, _position }) => [hour, clicks, first, _position])).toEqual([
      ["2026-03-01T08", 2, position(1), position(2)],
      ["2026-03-01T10", 2, position(3), position(4)],
      ["2026-03-01T12", 1, position(5), position(5)],
    ]);
  });

  it.each([
    ["08:59", undefined],
    ["09:59", 2],
    ["10:59", 2],
    ["11:59", 4],
    ["12:15", 4],
    ["14:00", 5],
  ])("is read for clicks since %s from the start of that hour at the latest", async (time, n) => {
    const stores = await openStores();
    try {
      await stores.readStore.ensure([clickHours]);
      await putDocuments(stores.readStore, clickHours.name, await clickHoursOf(log));
      const since = new Date(`2026-03-01T${time}:00.000Z`);
      expect(await positionBefore(stores, since)).toBe(n === undefined ? START : position(n));
    } finally {
      await stores.close();
    }
  });

  it("is read from before every click of the time for any clocks, ahead, behind and set back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(12 * 60), { minLength: 1, maxLength: 30 }),
        fc.nat(14 * 60),
        async (minutes, since) => {
          const at = (minute: number) => new Date(Date.parse("2026-03-01T00:00:00.000Z") + minute * 60_000);
          const recorded = minutes.map((minute, n) => ({
            ...stored(n + 1, linkClicked()),
            recordedAt: at(minute).toISOString(),
          }));
          const stores = await openStores();
          await stores.readStore.ensure([clickHours]);
          const documents = await clickHoursOf(recorded);
          await putDocuments(stores.readStore, clickHours.name, documents);
          const before = (await positionBefore(stores, at(since))) ?? "";
          await stores.close();
          const wanted = recorded.filter((click) => click.recordedAt >= at(since).toISOString());
          expect(wanted.filter((click) => click.position <= before)).toEqual([]);
        },
      ),
      { numRuns: effort(20, 50) },
    );
  });
});
