// Following the log over real stores: what is heard, from where, and when everything has been heard.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lifecycle } from "../../../src/projections/groups.ts";
import { pause } from "../../../src/runtime/pause.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import type { FollowedEvent, LogFollower } from "../../../src/stores/coordination/log-follower.ts";
import { type Position, START } from "../../../src/stores/event-store/port.ts";
import { followerOf } from "../../support/event-store/log-follower.ts";
import { linkClicked, linkDisabled } from "../../support/event-store/stored-events.ts";
import { append, openStores, putCheckpoint, type Stores } from "../../support/runtime/stores.ts";

describe("following the log", () => {
  let stores: Stores;
  let follower: LogFollower;
  let followed: FollowedEvent[];
  let stop: AbortController;
  let running: Promise<void> | undefined;

  beforeEach(async () => {
    stores = await openStores();
    followed = [];
    stop = new AbortController();
    running = undefined;
    follower = followerOf(stores);
    follower.listen((event) => void followed.push(event));
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await stores.close();
  });

  const run = () => {
    running = follower.run(stop.signal);
  };
  const positions = () => [...new Set(followed.map(({ position }) => position))].sort();
  const change = (slug: string) => append(stores.eventStore, `link-sho.rt/${slug}`, [linkDisabled(slug)]);
  const documentsStandAt = async (position: string) => {
    await putCheckpoint(stores.readStore, lifecycle.name, { position, eventId: position });
  };

  it("hands out what the documents do not show yet, and what comes", async () => {
    const first = await change("a");
    await documentsStandAt(first.position);
    const second = await change("b");
    run();
    await expect.poll(positions).toEqual([second.position]);
    const third = await change("c");
    await expect.poll(positions).toEqual([second.position, third.position]);
    expect(follower.lastLinkPosition).toBe(third.position);
  });

  it("keeps nobody from keeping what is read once the start is known, and not before", async () => {
    const head = vi.spyOn(stores.eventStore, "head").mockRejectedValueOnce(new StoreUnavailable("away"));
    expect(follower.isFollowing).toBe(false);
    run();
    await expect.poll(() => follower.isFollowing).toBe(true);
    expect(head.mock.calls.length).toBeGreaterThanOrEqual(2);
  });

  it("has handed out everything when it is caught up, also what no subscription has brought", async () => {
    vi.spyOn(stores.eventStore, "subscribe").mockImplementation(async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield* [];
    });
    run();
    const { position } = await change("a");
    await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
    await follower.catchUp();
    expect(positions()).toEqual([position]);
    const later = await change("b");
    await follower.catchUp();
    expect(positions()).toEqual([position, later.position]);
  });

  it("searches the log once for all who catch up at a time, and each stretch once", async () => {
    run();
    await follower.catchUp();
    await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
    const head = vi.spyOn(stores.eventStore, "head");
    await Promise.all(Array.from({ length: 50 }, () => follower.catchUp()));
    // The subscription looks, too.
    expect(head.mock.calls.length).toBeLessThan(10);
    const readAll = vi.spyOn(stores.eventStore, "readAll");
    await follower.catchUp();
    expect(readAll).not.toHaveBeenCalled();
  });

  it("goes on where the subscription has looked, however many clicks came since the last change", async () => {
    const looked: Position[] = [];
    const subscribe = stores.eventStore.subscribe.bind(stores.eventStore);
    vi.spyOn(stores.eventStore, "subscribe").mockImplementation(async function* (options) {
      for await (const page of subscribe(options)) {
        yield page;
        looked.push(page.next);
      }
    });
    run();
    await follower.catchUp();
    let position: Position = START;
    for (let n = 0; n < 3; n++)
      ({ position } = await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]));
    await expect.poll(() => looked.at(-1)).toBe(position);
    const readAll = vi.spyOn(stores.eventStore, "readAll");
    await follower.catchUp();
    expect(readAll).not.toHaveBeenCalled();
  });

  it("is no wait for an event store that is away, but for one caller a second", async () => {
    run();
    await follower.catchUp();
    const head = vi.spyOn(stores.eventStore, "head").mockRejectedValue(new StoreUnavailable("away"));
    await expect(follower.catchUp()).rejects.toThrow(StoreUnavailable);
    const asked = head.mock.calls.length;
    for (let n = 0; n < 5; n++) await expect(follower.catchUp()).rejects.toThrow(StoreUnavailable);
    expect(head.mock.calls.length - asked).toBeLessThan(5);
  });

  it("is a wait of five seconds at most for an event store that hangs", async () => {
    const slept: number[] = [];
    const sleep = async (ms: number, signal?: AbortSignal) => {
      slept.push(ms);
      await pause(ms / 100, signal);
    };
    follower = followerOf(stores, { sleep });
    run();
    await follower.catchUp();
    const answer = Promise.withResolvers<Position>();
    vi.spyOn(stores.eventStore, "head").mockReturnValue(answer.promise);
    await expect(follower.catchUp()).rejects.toThrow(StoreUnavailable);
    expect(slept.at(-1)).toBe(5_000);
    answer.resolve(START);
  });

  it("hands out all of a log that was put back from an older copy while it ran", async () => {
    const putBack = await openStores();
    try {
      let log = stores.eventStore;
      const eventStore = new Proxy(log, { get: (_, name) => Reflect.get(log, name).bind(log) });
      follower = followerOf({ ...stores, eventStore });
      follower.listen((event) => void followed.push(event));
      for (const slug of ["a", "b", "c"]) await change(slug);
      run();
      await follower.catchUp();
      log = putBack.eventStore;
      const { position } = await append(log, "link-sho.rt/older", [linkDisabled("older")]);
      await follower.catchUp();
      expect(followed.at(-1)?.stream).toBe("link-sho.rt/older");
      expect(follower.lastLinkPosition).toBe(position);
    } finally {
      await putBack.close();
    }
  });

  it("goes on where it was when a subscription is dropped", async () => {
    const { subscribe } = stores.eventStore;
    const spy = vi.spyOn(stores.eventStore, "subscribe").mockImplementation(async function* (options) {
      for await (const events of subscribe.call(stores.eventStore, options)) {
        yield events;
        return;
      }
    });
    run();
    await expect.poll(() => spy.mock.calls.length).toBeGreaterThan(0);
    const made = [];
    for (const slug of ["a", "b", "c"]) made.push((await change(slug)).position);
    await expect.poll(positions).toEqual(made);
  });
});
