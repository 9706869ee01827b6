// Events for tests of stores, which don't look inside them.
import { randomBytes } from "node:crypto";
import type { EventColumns, NewEvent } from "../../../src/event-store/port.ts";
import { timeOrderedId } from "../../../src/runtime/time-ordered-id.ts";

export function sampleEvent(data: unknown = {}, type = "Sampled"): NewEvent {
  return {
    id: timeOrderedId(Date.now(), randomBytes(10).toString("hex")),
    type,
    data,
    metadata: {
      schemaVersion: 1,
      correlationId: "request-1",
      causationId: "request-1",
      actor: { type: "system", id: "test" },
    },
  };
}

export function sampleEvents(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => sampleEvent({ index }));
}

/** A batch in columns, with a row for all events, a row for each, and rows that repeat. */
export function sampleColumns(count: number): EventColumns {
  const all = Array.from({ length: count }, (_, index) => index);
  return {
    ...{ type: "Sampled", schemaVersion: 1, actor: { type: "system", id: "test" } },
    writer: randomBytes(5).toString("hex"),
    times: all.map((index) => (index === 0 ? Date.now() : index % 3)),
    numbers: all.map((index) => (index === 0 ? 7 : 1)),
    members: ["name", "at", "index", "of", "empty", "url"],
    timeMember: "at",
    groups: [
      {
        members: ["name", "url"],
        values: [
          ["a", "b"],
          ["https://a.example/", "https://b.example/"],
        ],
        each: all.map((index) => index % 2),
      },
      { members: ["index"], values: [all] },
      { members: ["of", "empty"], values: [[{ count }], [""]] },
    ],
  };
}
