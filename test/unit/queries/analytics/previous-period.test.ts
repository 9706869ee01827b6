// The time that a range is compared with: the same hours of the zone, as many whole days before as the range is long.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Comparison, Period } from "../../../../src/queries/analytics/question.ts";
import { resolveQuestion } from "../../../../src/queries/analytics/resolve-question.ts";
import { memoize } from "../../../../src/runtime/memoize.ts";

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const QUARTER_MS = HOUR_MS / 4;
/** Of the days on which clocks are set, in 2026. */
const ZONES = [
  { zone: "UTC", changes: ["2026-06-01"] },
  { zone: "Europe/Berlin", changes: ["2026-03-29", "2026-10-25"] },
  { zone: "America/New_York", changes: ["2026-03-08", "2026-11-01"] },
  { zone: "Asia/Tokyo", changes: ["2026-06-01"] },
  { zone: "Pacific/Auckland", changes: ["2026-04-05", "2026-09-27"] },
  { zone: "Pacific/Kiritimati", changes: ["2026-06-01"] },
  { zone: "Australia/Lord_Howe", changes: ["2026-04-05", "2026-10-04"] },
];

const WALLS = new Map(ZONES.map(({ zone }) => [zone, wallClock(zone)]));

const ranges = fc.constantFrom(...ZONES).chain(({ zone, changes }) =>
  fc.record({
    zone: fc.constant(zone),
    from: fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -5 * 96, max: 5 * 96 }))
      .map(([day, quarters]) => Date.parse(`${day}T00:00:00Z`) + quarters * QUARTER_MS),
    length: fc.integer({ min: 1, max: 9 * 96 }).map((quarters) => quarters * QUARTER_MS),
  }),
);

it("is the same hours of whole days before, by the zone's clocks, also where they are set", async () => {
  await fc.assert(
    fc.asyncProperty(ranges, async ({ zone, from, length }) => {
      const to = from + length;
      const wall = WALLS.get(zone) ?? wallClock(zone);
      const asked = { zone, from, to, interval: "month", compare: "previous" } as const;
      const { previous } = await resolveQuestion(asked, to, async () => undefined);
      if (!previous) throw new Error("No previous period");
      expect(previous.from).toBeLessThan(previous.to);
      expect(previous.to).toBeLessThanOrEqual(from);
      // Within an hour that comes twice a range has no hours of its own.
      if (wall(to) <= wall(from)) return;
      const days = Math.max(1, Math.ceil((wall(to) - wall(from)) / DAY_MS));
      for (let at = previous.from - 3 * HOUR_MS; at < from; at += QUARTER_MS) {
        const isSame = wall(at) >= wall(from) - days * DAY_MS && wall(at) < wall(to) - days * DAY_MS;
        const isCounted = at >= previous.from && at < previous.to;
        if (isCounted === isSame) continue;
        const isTwice = [-HOUR_MS, -HOUR_MS / 2, HOUR_MS / 2, HOUR_MS].some(
          (more) => wall(at + more) === wall(at),
        );
        expect([new Date(at).toISOString(), isTwice]).toEqual([new Date(at).toISOString(), true]);
      }
    }),
    { numRuns: 200 },
  );
});

it("compares today in Tokyo with yesterday's hours so far", async () => {
  const asked = {
    zone: "Asia/Tokyo",
    from: Date.parse("2026-11-28T15:00Z"),
    to: undefined,
    interval: undefined,
  };
  const now = Date.parse("2026-11-28T20:30Z");
  const { previous } = await resolveQuestion({ ...asked, compare: "previous" }, now, async () => undefined);
  expect([previous?.from, previous?.to]).toEqual([Date.parse("2026-11-27T15:00Z"), now - DAY_MS]);
});

it("compares with the same hours of the week, month or year before, and with what was chosen", async () => {
  const local = (text: string) => Date.parse(`${text}Z`);
  const asked = { zone: "UTC", from: local("2028-03-29T10:00"), to: local("2028-03-31T12:00") };
  const comparedWith = async (compare: Comparison | Period) =>
    (await resolveQuestion({ ...asked, interval: "day", compare }, asked.to, async () => undefined)).previous;
  const of = (from: string, to: string) => expect.objectContaining({ from: local(from), to: local(to) });
  expect(await comparedWith("week")).toEqual(of("2028-03-22T10:00", "2028-03-24T12:00"));
  // February has 29 days.
  expect(await comparedWith("month")).toEqual(of("2028-02-29T10:00", "2028-02-29T12:00"));
  expect(await comparedWith("year")).toEqual(of("2027-03-29T10:00", "2027-03-31T12:00"));
  const own = { from: local("2027-01-01T00:00"), to: local("2027-01-03T00:00") };
  expect(await comparedWith(own)).toEqual({ ...own, starts: [own.from, local("2027-01-02T00:00")] });
});

/** As Intl shows an instant in the zone, as if that were UTC. Remembered, as ranges beside one day share most instants. */
function wallClock(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return memoize(20_000, (instant: number) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`));
}
