// Whatever is called, cancelled and ended in whatever order: everybody gets an answer, and nothing is left running.
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Calls, type Channel, type Message } from "../../../src/runtime/threads/calls.ts";
import { remoteMethods } from "../../../src/runtime/threads/remote.ts";

const FOREVER = 1_000;

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await turn();
}

/** Both ends, with messages that take so many turns of the event loop, in order. */
function channels(latency: () => number): [Channel, Channel] {
  const receivers: ((messages: Message[]) => void)[] = [];
  const channel = (own: number): Channel => {
    let before = Promise.resolve();
    return {
      send(messages) {
        before = before.then(() => turns(latency())).then(() => receivers[1 - own]?.(messages));
      },
      onMessages: (receive) => {
        receivers[own] = receive;
      },
    };
  };
  return [channel(0), channel(1)];
}

/** What is at work for somebody: calls that are not answered, and streams that are not at their end. */
function served() {
  let working = 0;
  const until = async (ms: number, signal: AbortSignal) => {
    for (let n = 0; n < ms && !signal.aborted; n += 1) await turn();
  };
  return {
    working: () => working,
    async work(forTurns: number, signal: AbortSignal): Promise<string> {
      working += 1;
      await until(forTurns, signal).finally(() => (working -= 1));
      return "worked";
    },
    /** Counts as open from its call on, not from the first value on. */
    values(count: number, eachTurns: number, signal: AbortSignal) {
      working += 1;
      let left = count;
      let isOpen = true;
      const close = () => {
        if (isOpen) working -= 1;
        isOpen = false;
        return { done: true as const, value: undefined };
      };
      return {
        async next() {
          if (left === 0) return close();
          left -= 1;
          await until(eachTurns, signal);
          return { done: false as const, value: left };
        },
        return: async () => close(),
      };
    },
  };
}

const action = fc.record({
  kind: fc.constantFrom("call", "stream"),
  startAfter: fc.integer({ min: 0, max: 5 }),
  takes: fc.constantFrom(0, 1, 3, FOREVER),
  values: fc.integer({ min: 0, max: 4 }),
  /** After as many values the consumer leaves. */
  leavesAfter: fc.integer({ min: 1, max: 5 }),
  abortAfter: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
});
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

it("answers everybody and leaves nothing running, in any order of calls, values, cancels and ends", async () => {
  const plan = {
    actions: fc.array(action, { minLength: 1, maxLength: 6 }),
    latencies: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 }),
    opensIn: fc.integer({ min: 0, max: 4 }),
    end: fc.constantFrom("none", "finish", "gone"),
    endAfter: fc.integer({ min: 0, max: 12 }),
  };
  const property = fc.asyncProperty(
    fc.record(plan),
    async ({ actions, latencies, opensIn, end, endAfter }) => {
      let sent = 0;
      const [near, far] = channels(() => latencies[sent++ % latencies.length] ?? 0);
      const there = served();
      const open = async () => {
        await turns(opensIn);
        return there;
      };
      const here = new Calls(near, {}, Error);
      const other = new Calls(far, { there: open }, Error);
      const perform = async ({ kind, startAfter, takes, values, leavesAfter, abortAfter }: Action) => {
        const stop = new AbortController();
        await turns(startAfter);
        // Whoever waits for what never ends leaves at last.
        void turns(abortAfter ?? 20).then(() => stop.abort(new Error("left")));
        if (kind === "call") return await here.call("there", "work", [takes], stop.signal);
        let taken = 0;
        for await (const _ of here.stream("there", "values", [values, takes], stop.signal))
          if (++taken === leavesAfter) break;
        return taken;
      };
      const ending = turns(endAfter).then(async () => {
        if (end === "finish") await other.finish();
        // Each side learns that the other one is gone.
        if (end === "gone") for (const side of [here, other]) side.end(new Error("gone"));
      });
      const results = await Promise.allSettled(actions.map(perform));
      for (const result of results)
        if (result.status === "rejected") expect(["left", "gone"]).toContain(result.reason.message);
      await ending;
      await turns(FOREVER / 10);
      expect(there.working()).toBe(0);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

it("rejects a call at once with the reason of its signal, and tells the method", async () => {
  const [near, far] = channels(() => 0);
  const there = served();
  const here = new Calls(near, {}, Error);
  new Calls(far, { there: () => there }, Error);
  const { work } = remoteMethods<typeof there, "work">(here, "there", ["work"]);
  const stop = new AbortController();
  const working = work(FOREVER, stop.signal);
  await turns(5);
  expect(there.working()).toBe(1);
  stop.abort(new RangeError("the client has gone"));
  await expect(working).rejects.toThrow(RangeError);
  await turns(5);
  expect(there.working()).toBe(0);
  await expect(work(0, stop.signal)).rejects.toThrow("the client has gone");
  expect(await work(0, new AbortController().signal)).toBe("worked");
});
