// Events for tests of stores, which don't look inside them.
import { randomBytes } from "node:crypto";
import { timeOrderedId } from "../../../src/runtime/time-ordered-id.ts";
import type { NewEvent } from "../../../src/stores/event-store/port.ts";

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
