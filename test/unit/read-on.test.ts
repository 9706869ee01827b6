// Reading on in some streams, again and again, without searching the log again and again.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RecordedEvent } from "../../src/event-store/port.ts";
import { onDemandReader } from "../../src/event-store/read-on.ts";
import { linkClicked, linkCreated } from "../support/stored-events.ts";
import { append, openStores, type Stores } from "../support/stores.ts";

describe("reading on in some streams", () => {
  let stores: Stores;
  let seen: string[];
  const see = (events: readonly RecordedEvent[]) => void seen.push(...events.map(({ position }) => position));
  let from: string | undefined;
  const start = async () => from;
  beforeEach(async () => {
    from = undefined;
    stores = await openStores();
    seen = [];
  });
  afterEach(() => stores.close());

  it("sees what has come since the last call, once", async () => {
    const readOn = onDemandReader(stores.eventStore, ["link-"], start, see);
    await readOn();
    expect(seen).toEqual([]);
    const first = await append(stores.eventStore, "link-sho.rt/a", [linkCreated()]);
    await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
    await readOn();
    expect(seen).toEqual([first.position]);
    const second = await append(stores.eventStore, "link-sho.rt/b", [linkCreated()]);
    await readOn();
    expect(seen).toEqual([first.position, second.position]);
  });

  it("begins after the position of the first call", async () => {
    const { position } = await append(stores.eventStore, "link-sho.rt/a", [linkCreated()]);
    from = position;
    const second = await append(stores.eventStore, "link-sho.rt/b", [linkCreated()]);
    const readOn = onDemandReader(stores.eventStore, ["link-"], start, see);
    await readOn();
    expect(seen).toEqual([second.position]);
  });

  it("searches each stretch once, and once for all who ask at a time", async () => {
    const readAll = vi.spyOn(stores.eventStore, "readAll");
    const readOn = onDemandReader(stores.eventStore, ["link-"], start, see);
    const { position } = await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
    await Promise.all(Array.from({ length: 50 }, () => readOn()));
    expect(readAll.mock.calls.length).toBeLessThanOrEqual(2);
    await readOn();
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
    const readOn = onDemandReader(stores.eventStore, ["link-"], start, see);
    const early = readOn();
    const { position } = await append(stores.eventStore, "link-sho.rt/a", [linkCreated()]);
    const late = readOn();
    gate.resolve();
    await Promise.all([early, late]);
    expect(seen).toEqual([position]);
  });
});
