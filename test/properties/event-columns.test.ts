// Cutting and joining batches in columns gives the same events as cutting and joining lists of them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonOfColumns } from "../../src/event-store/column-json.ts";
import {
  countOf,
  eventsOf,
  idBounds,
  idBoundsOf,
  idsOf,
  laterEvents,
} from "../../src/event-store/event-columns.ts";
import { joinedEvents } from "../../src/event-store/join-columns.ts";
import type { EventColumns, NewEvents } from "../../src/event-store/port.ts";

/** Milliseconds since 1970, number, and values of the two groups. */
type Sampled = { at: number; number: number; link: string; place: string; note: string };

const sampled = fc.record({
  at: fc.integer({ min: Date.UTC(1999, 11, 31), max: Date.UTC(2040, 0, 1) }),
  number: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  link: fc.constantFrom("a", "b", "c"),
  place: fc.constantFrom("x", "y"),
  note: fc.string(),
});
const samples = fc.array(sampled, { minLength: 1, maxLength: 12 });

function columnsOf(samples: readonly Sampled[], writer = "0123456789"): EventColumns {
  const differences = (values: number[]) => values.map((value, n) => value - (values[n - 1] ?? 0));
  const places = [...new Set(samples.map(({ place }) => place))];
  return {
    ...{ type: "Sampled", schemaVersion: 1, actor: { type: "operator" }, writer, timeMember: "at" },
    times: differences(samples.map(({ at }) => at)),
    numbers: differences(samples.map(({ number }) => number)),
    members: ["link", "at", "place", "length", "note"],
    groups: [
      { members: ["link"], values: [["a", "b", "c"]], each: samples.map(({ link }) => "abc".indexOf(link)) },
      {
        members: ["place", "length"],
        values: [places, [{ of: 1 }]],
        ...(places.length > 1 && { each: samples.map(({ place }) => places.indexOf(place)) }),
      },
      { members: ["note"], values: [samples.map(({ note }) => note)] },
    ],
  };
}

/** Compared as text, so that a changed order of members is noticed. */
const text = (events: NewEvents) => JSON.stringify(eventsOf(events));

describe("a batch in columns", () => {
  it("has the events that its columns say, with their members in order", () => {
    fc.assert(
      fc.property(samples, (all) => {
        const events = eventsOf(columnsOf(all));
        expect(JSON.stringify(events.map(({ data }) => data))).toBe(
          JSON.stringify(
            all.map(({ link, at, place, note }) => {
              return { link, at: new Date(at).toISOString(), place, length: { of: place.length }, note };
            }),
          ),
        );
        for (const { id, metadata } of events)
          expect(metadata).toEqual({
            ...{ schemaVersion: 1, correlationId: id, causationId: id, actor: { type: "operator" } },
          });
      }),
    );
  });

  it("has the JSON of its events' data without its events", () => {
    fc.assert(
      fc.property(samples, (all) => {
        const columns = columnsOf(all);
        expect(jsonOfColumns(columns)).toEqual(eventsOf(columns).map(({ data }) => JSON.stringify(data)));
      }),
    );
  });

  it("knows its ids and their bounds without its events", () => {
    fc.assert(
      fc.property(samples, (all) => {
        const columns = columnsOf(all);
        const ids = eventsOf(columns).map(({ id }) => id);
        expect(idsOf(columns)).toEqual(ids);
        const ordered = all.toSorted((a, b) => a.at - b.at || a.number - b.number);
        expect(idBoundsOf(columnsOf(ordered))).toEqual(idBounds(ids));
      }),
    );
  });

  it("is cut like a list", () => {
    fc.assert(
      fc.property(samples, fc.nat(12), (all, start) => {
        fc.pre(start < all.length);
        const later = laterEvents(columnsOf(all), start);
        expect(countOf(later)).toBe(all.length - start);
        expect(text(later)).toBe(JSON.stringify(eventsOf(columnsOf(all)).slice(start)));
      }),
    );
  });

  it("keeps the row of each event when joined rows are as many as events, but unused or in another order", () => {
    const sample = { at: Date.UTC(2026, 0, 1), number: 0, place: "x", note: "" };
    for (const links of [
      ["a", "a", "a"],
      ["c", "b", "a"],
      ["b", "a", "c"],
    ]) {
      const [first, ...others] = links.map((link, number) => ({ ...sample, link, number }));
      const batches = [columnsOf([first as Sampled]), columnsOf(others)];
      expect(text(joinedEvents(batches))).toBe(JSON.stringify(batches.flatMap((one) => eventsOf(one))));
    }
  });

  it("is joined with others like a list, in columns where one writer made all", () => {
    const batch = fc.record({
      all: samples,
      writer: fc.constantFrom("0123456789", "0123456789", "abcdef0123"),
    });
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 5 }), fc.boolean(), (batches, oneIsAList) => {
        const columns = batches.map(({ all, writer }) => columnsOf(all, writer));
        const mixed = columns.map((one, n) => (oneIsAList && n === 1 ? eventsOf(one) : one));
        const joined = joinedEvents(mixed);
        expect(text(joined)).toBe(JSON.stringify(columns.flatMap((one) => eventsOf(one))));
        const isOneWriters = new Set(columns.map(({ writer }) => writer)).size === 1;
        expect(Array.isArray(joined)).toBe(!isOneWriters || (oneIsAList && columns.length > 1));
      }),
    );
  });

  it("is the same after JSON", () => {
    fc.assert(
      fc.property(samples, (all) => {
        const columns = columnsOf(all);
        expect(text(JSON.parse(JSON.stringify(columns)))).toBe(text(columns));
      }),
    );
  });
});
