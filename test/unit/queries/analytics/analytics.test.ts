// Ranges of a link's analytics: their defaults, refusals, freshness and time travel, on a log with a clock of its own.
import { beforeEach, describe, expect, it } from "vitest";
import { clicks, lifecycle, projectionGroups } from "../../../../src/projections/groups.ts";
import { parseRange } from "../../../../src/queries/analytics/range.ts";
import { isoIn, timeZone, UTC } from "../../../../src/queries/analytics/time-zone.ts";
import type { EventStore, Position } from "../../../../src/stores/event-store/port.ts";
import type { ReadStore } from "../../../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../../../support/event-store/stored-events.ts";
import { foldGroups } from "../../../support/projections/fold-groups.ts";
import { type AskRange, rangesOf } from "../../../support/projections/range-of.ts";
import { storeWith } from "../../../support/runtime/store-with.ts";
import { append, storesOfTest } from "../../../support/runtime/stores.ts";

const NOW = new Date("2026-03-10T12:00:00.000Z");
const LINK = "sho.rt/abc";

let eventStore: EventStore;
let readStore: ReadStore;
let clock: Date;
beforeEach(async () => {
  clock = new Date("2026-03-01T09:00:00.000Z");
  ({ eventStore, readStore } = await storesOfTest({ clock: () => clock }));
  await append(eventStore, `link-${LINK}`, [linkCreated({ at: clock.toISOString() })]);
});

/** Recorded when it happened, unless `recordedAt` says otherwise. */
async function clicked(
  at: string,
  fields: Parameters<typeof linkClicked>[0] = {},
  recordedAt = at,
): Promise<Position> {
  clock = new Date(recordedAt);
  const event = linkClicked({ at: new Date(at).toISOString(), ...fields });
  return (await append(eventStore, "clicks-w-20260301", [event])).position;
}

async function project(groups = projectionGroups) {
  await foldGroups({ eventStore, readStore }, groups);
}

const ask: AskRange = (given) => rangesOf({ eventStore, readStore }, NOW)(given);

describe("a range of analytics", () => {
  it("goes from the day of the link's creation to now, day by day, unless it is told otherwise", async () => {
    await clicked("2026-03-01T10:00:00Z");
    await clicked("2026-03-02T23:30:00Z", { kind: "qr_scan" });
    await project();
    const { series, totals, from, to } = await ask({ interval: "day" });
    expect([isoIn(UTC, from), isoIn(UTC, to), series.length]).toEqual([
      "2026-03-01T00:00:00.000Z",
      NOW.toISOString(),
      10,
    ]);
    expect(series.slice(0, 3).map(({ click, qr_scan, total }) => [click, qr_scan, total])).toEqual([
      [1, 0, 1],
      [0, 1, 1],
      [0, 0, 0],
    ]);
    expect(totals).toEqual({ click: 1, preview: 0, qr_scan: 1, total: 2 });
    const inBerlin = await ask({ timezone: "Europe/Berlin" });
    expect(inBerlin.series.map(({ total }) => total).slice(0, 3)).toEqual([1, 0, 1]);
    const weeks = await ask({ interval: "week", from: "2026-02-23" });
    expect(weeks.series.map(({ start, total }) => [isoIn(UTC, start), total])).toEqual([
      ["2026-02-23T00:00:00.000Z", 1],
      ["2026-03-02T00:00:00.000Z", 1],
      ["2026-03-09T00:00:00.000Z", 0],
    ]);
  });

  it("begins with the local day of the link's creation, where that is part of another UTC day", async () => {
    const timezone = "America/New_York";
    await clicked("2026-03-01T10:10:00Z");
    const then = await clicked("2026-03-02T10:00:00Z");
    await project();
    for (const as_of of [undefined, then]) {
      const { from, series } = await ask({ timezone, as_of });
      expect(isoIn(timeZone(timezone) ?? UTC, from)).toBe("2026-03-01T00:00:00.000-05:00");
      expect(series.slice(0, 2).map(({ total }) => total)).toEqual([1, 1]);
    }
    await clicked("2026-03-01T01:00:00Z", {}, "2026-03-03T10:00:00Z");
    await project();
    expect((await ask({ timezone })).series.slice(0, 2).map(({ total }) => total)).toEqual([1, 1]);
    expect((await ask({ timezone, as_of: then })).totals.total).toBe(2);
  });

  it("begins with the first click where that came before the link, as imported ones do", async () => {
    await clicked("2019-05-03T10:00:00Z", {}, "2026-03-05T10:00:00Z");
    await project();
    const { from, totals } = await ask({ interval: "month" });
    expect([isoIn(UTC, from), totals.total]).toEqual(["2019-05-03T00:00:00.000Z", 1]);
  });

  it("reads times with offsets, in the zone where they have none, and a plus that became a space", () => {
    const from = (text: string, timezone = "UTC") =>
      new Date(parseRange({ from: text, timezone }).from ?? 0).toISOString();
    expect(from("2026-03-01")).toBe("2026-03-01T00:00:00.000Z");
    expect(from("2026-03-01", "Asia/Kathmandu")).toBe("2026-02-28T18:15:00.000Z");
    expect(from("2026-03-01T10:00", "America/St_Johns")).toBe("2026-03-01T13:30:00.000Z");
    expect(from("2026-03-01T10:00:00.5Z", "America/St_Johns")).toBe("2026-03-01T10:00:00.500Z");
    // Clocks were set from 02:00 to 03:00.
    expect(from("2026-03-29T02:30", "Europe/Berlin")).toBe("2026-03-29T01:30:00.000Z");
    for (const plus of ["+", " "])
      expect(from(`2026-03-01T10:00:00${plus}05:45`)).toBe("2026-03-01T04:15:00.000Z");
    expect(from("2026-03-01T10:00:00-0330")).toBe("2026-03-01T13:30:00.000Z");
  });
});

describe("what an answer says about its position", () => {
  it("is the end of the log when every click is counted, and the last counted click with the lag when not", async () => {
    await clicked("2026-03-02T10:00:00Z");
    const counted = await clicked("2026-03-02T11:00:00Z");
    await project();
    await append(eventStore, "link-sho.rt/more", [linkCreated({ slug: "more" })]);
    expect(await ask({})).toMatchObject({ position: await eventStore.head(), behindMs: 0 });
    await clicked("2026-03-10T11:59:58Z");
    expect(await ask({})).toMatchObject({ position: counted, behindMs: 2_000, totals: { total: 2 } });
  });

  it("holds also while a commit is in flight: later clicks of a day are left out", async () => {
    await clicked("2026-03-02T10:00:00Z");
    await project();
    const before = await readStore.checkpoint(clicks.name);
    await clicked("2026-03-02T10:01:00Z");
    await clicked("2026-03-03T10:01:00Z");
    await project();
    const readStoreThen = storeWith(readStore, { checkpoint: async () => before });
    const query = rangesOf({ eventStore, readStore: readStoreThen }, NOW);
    expect(await query({})).toMatchObject({ position: before?.position, totals: { total: 1 } });
  });
});

describe("time travel", () => {
  it("shows the link and its numbers as they stood, by position and by time", async () => {
    const positions: Position[] = [];
    for (const hour of ["10", "11", "12"]) positions.push(await clicked(`2026-03-02T${hour}:00:00Z`));
    clock = new Date("2026-03-02T12:30:00Z");
    const retargeted = { host: "sho.rt", slug: "abc", accountId: ACCOUNT, at: clock.toISOString() };
    await append(eventStore, `link-${LINK}`, [
      {
        type: "LinkRetargeted",
        data: { ...retargeted, from: "https://example.com/", to: "https://example.com/2" },
      },
    ]);
    // An hour late, from a journal.
    await clicked("2026-03-02T10:30:00Z", {}, "2026-03-02T13:00:00Z");
    await project();
    const then = async (as_of: string) => {
      const { totals, link, position } = await ask({ as_of });
      return [totals.total, link.longUrl.at(-1), position];
    };
    const [first, second, third] = positions;
    expect(await then(first as string)).toEqual([1, "/", first]);
    expect(await then(second as string)).toEqual([2, "/", second]);
    expect(await then("2026-03-02T11:00:00Z")).toEqual([2, "/", second]);
    expect(await then("2026-03-02T11:59:59.999Z")).toEqual([2, "/", second]);
    expect(await then("2026-03-02T12:00:00Z")).toEqual([3, "/", third]);
    expect((await then("2026-03-02T12:59:00Z")).slice(0, 2)).toEqual([3, "2"]);
    expect((await then("2026-03-02T13:00:00Z")).slice(0, 2)).toEqual([4, "2"]);
    expect((await then("2026-03-10T12:00:10Z")).slice(0, 2)).toEqual([4, "2"]);
    const morning = { from: "2026-03-02T10:00", to: "2026-03-02T11:00" };
    expect((await ask({ ...morning, as_of: "2026-03-02T12:30Z" })).totals.total).toBe(1);
    expect((await ask(morning)).totals.total).toBe(2);
  });

  it("keeps no position of a time up to which clicks may still come, and ends no later than now", async () => {
    await clicked("2026-03-10T11:00:00Z");
    await project();
    const query = rangesOf({ eventStore, readStore }, NOW);
    const inAMoment = { as_of: new Date(NOW.getTime() + 30_000).toISOString() };
    const { totals, to } = await query(inAMoment);
    expect([totals.total, isoIn(UTC, to)]).toEqual([1, NOW.toISOString()]);
    await clicked("2026-03-10T11:59:00Z", {}, NOW.toISOString());
    await project();
    expect((await query(inAMoment)).totals.total).toBe(2);
  });

  it("waits for clicks that are not counted yet, and is refused with 503 when that takes long", async () => {
    await clicked("2026-03-02T10:00:00Z");
    await project([lifecycle]);
    const last = await clicked("2026-03-02T11:00:00Z");
    await expect(ask({ as_of: last })).rejects.toMatchObject({
      code: "store_unavailable",
      retryAfter: 2,
    });
    await project();
    expect((await ask({ as_of: last })).totals.total).toBe(2);
  });
});
