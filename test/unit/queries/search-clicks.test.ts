// Clicks by the time of their recording, in a log whose times don't follow each other.

import { expect, it } from "vitest";
import type { StoredEvent } from "../../../src/events/catalogue.ts";
import { clickHours } from "../../../src/projections/definitions/click-hours.ts";
import { lastPositionIn } from "../../../src/queries/analytics/log-positions.ts";
import { findClicks, searchClicks } from "../../../src/queries/audit/find-clicks.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { linkClicked, linkCreated, position } from "../../support/event-store/stored-events.ts";
import { clickHoursOf } from "../../support/projections/click-hours.ts";
import { append, appendCopies, putDocuments, storesOfTest } from "../../support/runtime/stores.ts";

/** A log of one click for each time. `searched` answers the times of the clicks that are found. */
async function logOf(...times: string[]) {
  let now = new Date();
  const clock = () => now;
  const { eventStore, readStore } = await storesOfTest({ clock });
  for (const time of times) {
    now = new Date(time);
    await append(eventStore, "clicks-0123456789abcdef-20260301", [linkClicked({ at: time })]);
  }
  const events = (await loggedEvents(eventStore, { categories: ["clicks"], limit: 100 })) as StoredEvent[];
  await readStore.ensure([clickHours]);
  await putDocuments(readStore, clickHours.name, await clickHoursOf(events));
  const deps = { eventStore, readStore, clock, baseHost: "sho.rt" };
  const searched = async (from: string, to: string) => {
    const wanted = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: 50 };
    const found = await searchClicks({ ...deps, findClicks: (search) => findClicks(deps, search) }, wanted);
    expect(found.next).toBeNull();
    return found.events.map(({ recorded_at }) => recorded_at);
  };
  return { deps, searched };
}

it("finds the clicks of an hour that were recorded after a clock was ahead", async () => {
  const [early, ahead, after, later] = [
    "2026-03-01T10:05:00.000Z",
    "2026-03-02T10:10:00.000Z",
    "2026-03-01T10:15:00.000Z",
    "2026-03-01T12:00:00.000Z",
  ] as const;
  const { searched } = await logOf(early, ahead, after, later);
  expect(await searched("2026-03-01T10:00Z", "2026-03-01T11:00Z")).toEqual([early, after]);
  expect(await searched("2026-03-01T10:10Z", "2026-03-01T10:20Z")).toEqual([after]);
  expect(await searched("2026-03-01T10:00Z", "2026-03-01T12:30Z")).toEqual([early, after, later]);
});

it("ends with the last click of the hours that are searched", async () => {
  const times = ["10:50", "11:02", "11:10", "11:50"].map((time) => `2026-03-01T${time}:00.000Z`);
  const { deps } = await logOf(...times);
  expect(await lastPositionIn(deps, "2026-03-01T10:00:00.000Z", "2026-03-01T11:00:00.000Z")).toBe(
    position(1),
  );
  expect(await lastPositionIn(deps, "2026-03-01T10:00:00.000Z", "2026-03-01T11:00:00.001Z")).toBe(
    position(4),
  );
});

it("finds the clicks of an hour that a clock went through twice", async () => {
  const times = ["10:50", "11:10", "10:20", "10:55", "11:20"].map((time) => `2026-03-01T${time}:00.000Z`);
  const { searched } = await logOf(...times);
  expect(await searched("2026-03-01T10:00Z", "2026-03-01T11:00Z")).toEqual([times[0], times[2], times[3]]);
  expect(await searched("2026-03-01T11:00Z", "2026-03-01T12:00Z")).toEqual([times[1], times[4]]);
});

it("finds all clicks of a link without times, also in a log of another link's thousands", async () => {
  const { deps } = await logOf();
  await append(deps.eventStore, "link-sho.rt/abc", [linkCreated()]);
  await append(deps.eventStore, "clicks-a-20260301", [linkClicked({}), linkClicked({})]);
  await appendCopies(deps.eventStore, "clicks-b-20260302", linkClicked({ link: "sho.rt/other" }), 52_000);
  await append(deps.eventStore, "clicks-c-20260302", [linkClicked({}), linkClicked({})]);
  const wanted = { link: "abc", limit: 50 };
  const search = { ...deps, findClicks: (part: Parameters<typeof findClicks>[1]) => findClicks(deps, part) };
  const found = await searchClicks(search, wanted);
  expect([found.events.length, found.next, found.from]).toEqual([4, null, null]);
  const cut = await searchClicks({ ...search, searchMs: 0 }, wanted);
  expect(cut.events).toHaveLength(2);
  const rest = await searchClicks(search, { ...wanted, after: cut.next ?? "" });
  expect([rest.events.length, rest.next]).toEqual([2, null]);
  await expect(searchClicks(search, { link: "unknown", limit: 50 })).rejects.toMatchObject({
    code: "not_found",
  });
});
