// Encoding and decoding the body of an event batch returns the same events, whatever values they share.
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { objectMakers } from "../../src/event-store/object-makers.ts";
import type { NewEvent } from "../../src/event-store/port.ts";
import { batchBody, newEventsOfText, textOfBody } from "../../src/event-store/sqlite/batch-body.ts";

const actor = { type: "system", id: "redirect" } as const;

function eventOf(data: unknown, n: number): NewEvent {
  const id = `event-${n}`;
  return {
    id,
    type: "Sampled",
    data,
    metadata: { schemaVersion: 1, correlationId: id, causationId: id, actor },
  };
}

/** Compared as text, so that a changed order of members is noticed. */
const kept = (events: readonly NewEvent[]) =>
  JSON.stringify(newEventsOfText(textOfBody(batchBody(events)), events.length, objectMakers()));

const few = fc.constantFrom("a", "\n1", "1", 1, 0, null, true, "__proto__", "\t", "\u2028");
const record = (value: fc.Arbitrary<unknown>) =>
  fc.record({ a: value, b: value, "1": value, "": value }, { requiredKeys: ["a"] });

describe("the body of an event batch", () => {
  it("decodes to the same events, with their members in order", () => {
    const data = fc.oneof(record(fc.oneof(few, record(few), fc.array(few))), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(data, { minLength: 1, maxLength: 40 }), (all) => {
        const events = all.map(eventOf);
        expect(kept(events)).toBe(JSON.stringify(events));
      }),
    );
  });

  it("decodes to the same events when values repeat or are all equal", () => {
    const data = fc.record({ link: few, same: fc.constant({ x: 1 }), inner: fc.record({ name: few }) });
    fc.assert(
      fc.property(fc.array(data, { minLength: 1, maxLength: 40 }), (all) => {
        const events = all.map(eventOf);
        expect(kept(events)).toBe(JSON.stringify(events));
      }),
    );
  });

  it("keeps a member named __proto__ as a member", () => {
    const data = JSON.parse('{"__proto__":{"x":1},"b":2}');
    const events = [eventOf(data, 1), eventOf(data, 2)];
    expect(kept(events)).toBe(JSON.stringify(events));
  });

  it("omits undefined members", () => {
    const events = [eventOf({ a: 1, b: undefined }, 1), eventOf({ a: 1, b: undefined }, 2)];
    expect(kept(events)).toBe(JSON.stringify(events));
  });

  it("is read from logs of earlier versions, with one line per event", () => {
    const events = [eventOf({ a: "x\ty\nz" }, 1), eventOf({ b: 2 }, 2)];
    const lines = events.map((event) =>
      [event.id, event.type, event.data, event.metadata].map((part) => JSON.stringify(part)).join("\t"),
    );
    expect(newEventsOfText(textOfBody(zstdCompressSync(lines.join("\n"))), 2, objectMakers())).toEqual(
      events,
    );
  });
});
