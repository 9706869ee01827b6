// Whatever events are appended, in whatever grouping, are read back equal: for every adapter of the event store.

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { categoryOf } from "../../src/stores/event-store/categories.ts";
import type {
  EventMetadata,
  EventStore,
  NewEvent,
  RecordedEvent,
} from "../../src/stores/event-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvent } from "../support/event-store/sample-events.ts";
import { effort } from "../support/runtime/effort.ts";

const numRuns = effort(40, 200);

/** Hangs only where a subscription does. */
const PATIENCE_MS = 60_000;

/** `prefix`: the categories of all streams start with it, so that others may use the same server. */
export type PropertyFixture = { store: EventStore; prefix: string; close(): Promise<void> };

/** Code points of any kind, and halves of surrogate pairs, which JSON keeps as escapes. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom("\ud83d", "\ude00", "\u0000", "\u2028", '"', "\\", "é", "a"),
    maxLength: 6,
  }),
  fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "toString",
    "0",
    "-1",
    "1e3",
    "null",
    "length",
    "$correlationId",
  ),
);
/** Of members: any but those that JSON escapes, which every adapter refuses. */
const name = text.filter((one) => JSON.stringify(one) === `"${one}"`);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      text,
      fc.constantFrom(null, true, false, "", 0),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.maxSafeInteger(),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 5, noNullPrototype: false }),
  ),
}));
const deep = fc.integer({ min: 50, max: 200 }).map((depth) => {
  let nested: unknown = {};
  for (let n = 0; n < depth; n += 1) nested = n % 2 ? [nested] : { nested };
  return nested;
});
const long = fc.tuple(text, fc.integer({ min: 1, max: 4_000 })).map(([part, times]) => part.repeat(times));
const member = fc.oneof(
  { weight: 20, arbitrary: value },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: long },
);
/** `JSON.parse` makes a member of `__proto__`, which a literal does not. */
const data = fc
  .array(fc.tuple(name, member), { maxLength: 6 })
  .map((members) =>
    JSON.parse(`{${members.map((pair) => pair.map((part) => JSON.stringify(part)).join(":")).join(",")}}`),
  );

const metadata: fc.Arbitrary<EventMetadata> = fc.record(
  {
    schemaVersion: fc.integer({ min: 1, max: 9 }),
    correlationId: text,
    causationId: text,
    actor: fc.oneof(
      fc.constant({ type: "operator" as const }),
      fc.record({ type: fc.constantFrom("key" as const, "person" as const, "system" as const), id: text }),
    ),
  },
  { requiredKeys: ["schemaVersion"], noNullPrototype: true },
);

const event = fc
  .record({ data, metadata, type: fc.constantFrom("Sampled", "LinkClicked", "Ünïcode Type") })
  .map((given): NewEvent => ({ ...sampleEvent(), ...given, metadata: { ...given.metadata } }));
/** The same object several times in an append, or equal ones, as a click's are. */
const appended = fc.tuple(
  fc.array(event, { minLength: 1, maxLength: 5 }),
  fc.integer({ min: 1, max: 8 }),
  fc.boolean(),
);
const events = appended.map(([different, copies, isShared]) =>
  Array.from({ length: copies }, () =>
    different.map((one) => ({
      ...one,
      id: sampleEvent().id,
      data: isShared ? one.data : structuredClone(one.data),
    })),
  ).flat(),
);
/** Each to one of three streams in two categories. */
const appends = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), events), { minLength: 1, maxLength: 5 });

export function eventStoreProperties(name: string, open: () => Promise<PropertyFixture>): void {
  describe(`whatever is appended to ${name}`, () => {
    let fixture: PropertyFixture;
    let cases = 0;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());

    it(
      "is read back equal: by stream in both directions, in pages of any size, and by a subscription",
      async () => {
        const property = fc.asyncProperty(
          appends,
          fc.integer({ min: 1, max: 8 }),
          fc.integer({ min: 1, max: 30 }),
          async (batches, pages, batchSize) => {
            cases += 1;
            const category = (name: string) => `${fixture.prefix}${name}${cases}`;
            const streams = [`${category("a")}-x`, `${category("a")}-y-z`, category("b")];
            await holds(fixture.store, streams, batches, { pages, batchSize });
          },
        );
        await fc.assert(property, { numRuns });
      },
      60_000 + numRuns * 3_000,
    );
  });
}

async function holds(
  store: EventStore,
  streams: readonly string[],
  batches: readonly (readonly [number, NewEvent[]])[],
  { pages, batchSize }: { pages: number; batchSize: number },
): Promise<void> {
  // Others may have filled the log before.
  const start = await store.head();
  const all: { stream: string; event: NewEvent }[] = [];
  const revisions = new Map<string, number>();
  for (const [n, batch] of batches) {
    const stream = streams[n] as string;
    const { revision } = await store.append(stream, revisions.get(stream) ?? "none", batch);
    revisions.set(stream, revision);
    all.push(...batch.map((event) => ({ stream, event })));
  }
  const pageSize = Math.ceil(all.length / pages);
  for (const stream of streams) {
    const wanted = all.filter((one) => one.stream === stream).map(({ event }) => event);
    same(await store.read(stream), wanted);
    same(await store.read(stream, { backwards: true }), wanted.toReversed());
    const from = Math.floor(wanted.length / 2);
    same(await store.read(stream, { from, limit: pageSize }), wanted.slice(from, from + pageSize));
  }
  const wanted = all.map(({ event }) => event);
  const categories = [...new Set(streams.map(categoryOf))];
  const paged: RecordedEvent[] = [];
  for (let page: RecordedEvent[] | undefined; !page || page.length === pageSize; paged.push(...page)) {
    page = await loggedEvents(store, { categories, after: paged.at(-1)?.position ?? start, limit: pageSize });
    expect(page.length).toBeLessThanOrEqual(pageSize);
  }
  same(paged, wanted);
  expect(paged.map(({ stream }) => stream)).toEqual(all.map(({ stream }) => stream));
  const subscribed: RecordedEvent[] = [];
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for await (const batch of store.subscribe({ after: start, categories, batchSize, signal })) {
    expect(batch.events.length).toBeLessThanOrEqual(batchSize);
    subscribed.push(...batch.events);
    if (subscribed.length >= wanted.length) break;
  }
  // Equal in every member, revision and position included.
  expect(isDeepStrictEqual(subscribed, paged)).toBe(true);
}

/** Compared as text too, which tells members in another order, `__proto__` and absent members apart. */
function same(read: readonly RecordedEvent[], wanted: readonly NewEvent[]): void {
  expect(read.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
  for (const [n, { type, data, metadata, unreadable }] of read.entries()) {
    expect(unreadable).toBeUndefined();
    expect(type).toBe(wanted[n]?.type);
    expect(JSON.stringify(data)).toBe(JSON.stringify(wanted[n]?.data));
    expect(metadata).toEqual(wanted[n]?.metadata);
  }
}
