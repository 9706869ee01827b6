// Upcasting, with a type that has three versions.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { EventDefinition } from "../../../src/events/definition.ts";
import { EventNewer, EventUnreadable, readEvent } from "../../../src/events/read-event.ts";
import type { RecordedEvent } from "../../../src/stores/event-store/port.ts";

const registry = {
  // v1 { name }, v2 { first, last }, v3 adds { title }.
  Greeted: {
    version: 3,
    schema: z.object({ first: z.string(), last: z.string(), title: z.string() }),
    upcast: {
      1: (data) => {
        const [first = "", last = ""] = (data as { name: string }).name.split(" ");
        return { first, last };
      },
      2: (data) => ({ ...(data as object), title: "" }),
    },
  },
  Broken: { version: 2, schema: z.object({}) },
} satisfies Record<string, EventDefinition>;

function recorded(type: string, schemaVersion: number, data: unknown): RecordedEvent {
  const metadata = {
    schemaVersion,
    correlationId: "c",
    causationId: "c",
    actor: { type: "operator" },
  } as const;
  const place = { stream: "greeting-1", revision: 0, position: "1", recordedAt: "2026-03-01T10:00:00.000Z" };
  return { id: "id-1", type, data, metadata, ...place };
}

describe("upcasting", () => {
  it.each([
    [1, { name: "Ada Lovelace" }, { first: "Ada", last: "Lovelace", title: "" }],
    [2, { first: "Ada", last: "Lovelace" }, { first: "Ada", last: "Lovelace", title: "" }],
    [3, { first: "Ada", last: "Lovelace", title: "Lady" }, { first: "Ada", last: "Lovelace", title: "Lady" }],
  ])("takes data of version %i through every step to the last", (version, data, expected) => {
    expect(readEvent(recorded("Greeted", version, data), registry)?.data).toEqual(expected);
  });

  it("leaves the recorded event as it was", () => {
    const event = recorded("Greeted", 1, Object.freeze({ name: "Ada Lovelace" }));
    readEvent(event, registry);
    expect(event).toEqual(recorded("Greeted", 1, { name: "Ada Lovelace" }));
  });

  it.each([0, 1.5, Number.NaN, undefined as unknown as number])("refuses version %s", (version) => {
    const event = recorded("Greeted", version, { first: "Ada", last: "Lovelace", title: "" });
    expect(() => readEvent(event, registry)).toThrow(EventUnreadable);
  });

  it("refuses a version of a newer program, as that", () => {
    expect(() => readEvent(recorded("Greeted", 4, {}), registry)).toThrow(EventNewer);
  });

  it("refuses data when a step is missing or fails", () => {
    expect(() => readEvent(recorded("Broken", 1, {}), registry)).toThrow(/no upcaster from version 1 to 2/);
    expect(() => readEvent(recorded("Greeted", 1, {}), registry)).toThrow(EventUnreadable);
  });
});
