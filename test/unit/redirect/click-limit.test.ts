// The limit of a link's clicks: by the count of all processes, and by the documents while that is unavailable.
import { describe, expect, it } from "vitest";
import { CoordinationUnavailable, StoreUnavailable } from "../../../src/connections/errors.ts";
import { clickLimit } from "../../../src/redirect/visits/click-limit.ts";
import { memoryVisitCounter } from "../../../src/redirect/visits/visit-counter.memory.ts";

const LINK = "localhost/abc";

/** `people`: what the documents hold; `reads`: how often they were read; `isAway`: of the counter. */
function start(people = 0) {
  const own = memoryVisitCounter();
  const state = { people, reads: 0, isAway: false };
  const limit = clickLimit({
    counter: {
      count: async (...visit) => {
        if (state.isAway) throw new CoordinationUnavailable("away");
        return await own.count(...visit);
      },
    },
    people: async () => {
      state.reads += 1;
      return state.people;
    },
  });
  return { state, limit };
}

describe("the limit of a link's clicks", () => {
  it("counts from what the documents hold, and reads them once", async () => {
    const { state, limit } = start(3);
    expect([await limit.isReached(LINK, 5), await limit.take(LINK, 5), await limit.take(LINK, 5)]).toEqual([
      false,
      true,
      true,
    ]);
    expect([await limit.take(LINK, 5), await limit.isReached(LINK, 5)]).toEqual([false, true]);
    expect(state.reads).toBe(1);
  });

  it("lets another in for one whose visit was given back", async () => {
    const { limit } = start();
    await limit.take(LINK, 1);
    await limit.giveBack(LINK, 1);
    expect([await limit.take(LINK, 1), await limit.take(LINK, 1)]).toEqual([true, false]);
  });

  it("goes by the documents alone while the counter is unavailable", async () => {
    const { state, limit } = start(4);
    state.isAway = true;
    expect(await limit.take(LINK, 5)).toBe(true);
    await limit.giveBack(LINK, 5);
    state.people = 5;
    expect([await limit.take(LINK, 5), await limit.isReached(LINK, 5)]).toEqual([false, true]);
  });

  it("makes up for the visits of an outage when the counter is back", async () => {
    const { state, limit } = start();
    expect(await limit.take(LINK, 3)).toBe(true);
    state.people = 1;
    state.isAway = true;
    for (const people of [2, 3]) {
      expect(await limit.take(LINK, 3)).toBe(true);
      state.people = people;
    }
    state.isAway = false;
    expect([await limit.take(LINK, 3), await limit.take(LINK, 3)]).toEqual([false, false]);
  });

  it("lets nobody in who can't be counted at all", async () => {
    const limit = clickLimit({
      counter: memoryVisitCounter(),
      people: () => Promise.reject(new StoreUnavailable("away")),
    });
    await expect(limit.take(LINK, 5)).rejects.toThrow(StoreUnavailable);
    await expect(limit.isReached(LINK, 5)).rejects.toThrow(StoreUnavailable);
  });
});
