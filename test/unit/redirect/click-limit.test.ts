// The limit of a link's clicks: by the count of all processes, and by the documents while that is unavailable.
import { describe, expect, it } from "vitest";
import { clickLimit, visitCounter } from "../../../src/redirect/visits/click-limit.ts";
import { CoordinationUnavailable, StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";

/** One state of the link. */
const limited = (maxClicks: number) => ({ key: "localhost/abc", maxClicks });

/** `people`: what the documents hold; `reads`: how often they were read, unless `cannotRead`; `isAway`: of the counter. */
function start(people = 0) {
  const own = visitCounter(ownCounts(), () => new Date(0));
  const state = { people, reads: 0, isAway: false, cannotRead: false };
  const limit = clickLimit({
    countVisits: async (...visit) => {
      if (state.isAway) throw new CoordinationUnavailable("away");
      return await own(...visit);
    },
    people: async () => {
      state.reads += 1;
      if (state.cannotRead) throw new StoreUnavailable("away");
      return state.people;
    },
  });
  return { state, limit };
}

describe("the limit of a link's clicks", () => {
  it("counts from what the documents hold, and reads them once", async () => {
    const { state, limit } = start(3);
    const link = limited(5);
    expect([await limit.isReached(link), await limit.take(link), await limit.take(link)]).toEqual([
      false,
      true,
      true,
    ]);
    expect([await limit.take(link), await limit.isReached(link)]).toEqual([false, true]);
    expect(state.reads).toBe(1);
  });

  it("counts who came while the link had no limit, and by the count alone where the documents can't say", async () => {
    const { state, limit } = start();
    expect(await limit.take(limited(2))).toBe(true);
    state.people = 4;
    state.cannotRead = true;
    expect(await limit.take(limited(3))).toBe(true);
    state.cannotRead = false;
    expect([await limit.take(limited(5)), await limit.take(limited(5))]).toEqual([true, false]);
  });

  it("lets another in for one whose visit was given back", async () => {
    const { limit } = start();
    const link = limited(1);
    await limit.take(link);
    await limit.giveBack(link);
    expect([await limit.take(link), await limit.take(link)]).toEqual([true, false]);
  });

  it("goes by the documents alone while the counter is unavailable", async () => {
    const { state, limit } = start(4);
    const link = limited(5);
    state.isAway = true;
    expect(await limit.take(link)).toBe(true);
    await limit.giveBack(link);
    state.people = 5;
    expect([await limit.take(link), await limit.isReached(link)]).toEqual([false, true]);
  });

  it("makes up for the visits of an outage when the counter is back", async () => {
    const { state, limit } = start();
    const link = limited(3);
    expect(await limit.take(link)).toBe(true);
    state.people = 1;
    state.isAway = true;
    for (const people of [2, 3]) {
      expect(await limit.take(link)).toBe(true);
      state.people = people;
    }
    state.isAway = false;
    expect([await limit.take(link), await limit.take(link)]).toEqual([false, false]);
  });

  it("lets nobody in who can't be counted at all", async () => {
    const limit = clickLimit({
      countVisits: visitCounter(ownCounts(), () => new Date(0)),
      people: () => Promise.reject(new StoreUnavailable("away")),
    });
    const link = limited(5);
    await expect(limit.take(link)).rejects.toThrow(StoreUnavailable);
    await expect(limit.isReached(link)).rejects.toThrow(StoreUnavailable);
  });
});
