// The last event of some streams: found again and again, without searching the log again and again.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newestEventFinder } from "../../src/event-store/newest-event.ts";
import { linkClicked, linkCreated } from "../support/stored-events.ts";
import { append, openStores, type Stores } from "../support/stores.ts";

describe("the newest event of some streams", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores();
  });
  afterEach(() => stores.close());

  it("is the last there is at each call", async () => {
    const newest = newestEventFinder(stores.eventStore, ["link-"]);
    expect(await newest(undefined)).toBeUndefined();
    const first = await append(stores.eventStore, "link-sho.rt/a", [linkCreated()]);
    await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
    expect(await newest(undefined)).toBe(first.position);
    const second = await append(stores.eventStore, "link-sho.rt/b", [linkCreated()]);
    expect(await newest(undefined)).toBe(second.position);
  });

  it("searches each stretch once, and once for all who ask at a time", async () => {
    const readAll = vi.spyOn(stores.eventStore, "readAll");
    const newest = newestEventFinder(stores.eventStore, ["link-"]);
    const { position } = await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
    await Promise.all(Array.from({ length: 50 }, () => newest(undefined)));
    expect(readAll.mock.calls.length).toBeLessThanOrEqual(2);
    await newest(undefined);
    expect(readAll).toHaveBeenLastCalledWith(expect.objectContaining({ after: position }));
  });

  it("sees what was appended while another's search was under way", async () => {
    const { readAll } = stores.eventStore;
    const gate = Promise.withResolvers<void>();
    vi.spyOn(stores.eventStore, "readAll").mockImplementationOnce(async (options) => {
      const events = await readAll.call(stores.eventStore, options);
      await gate.promise;
      return events;
    });
    const newest = newestEventFinder(stores.eventStore, ["link-"]);
    const early = newest(undefined);
    const { position } = await append(stores.eventStore, "link-sho.rt/a", [linkCreated()]);
    const late = newest(undefined);
    gate.resolve();
    await early;
    expect(await late).toBe(position);
  });
});
