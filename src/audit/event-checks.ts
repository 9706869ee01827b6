// What must be true of each event of the log by itself and after those before it: order, schema, time, duplicates, rules.

import type { StoredEvent } from "../events/catalogue.ts";
import { readEvent } from "../events/read-event.ts";
import { PREFIX, SEALS_STREAM } from "../events/streams.ts";
import { messageOf } from "../runtime/errors.ts";
import { CLOCK_SKEW_MS } from "../runtime/moment.ts";
import type { EventMetadata, StoredText } from "../stores/event-store/port.ts";
import { streamRules } from "./stream-rules.ts";

type Check = "order" | "schema" | "time" | "duplicate" | "rule";
type ReportProblem = (check: Check, message: string) => void;

export type EventChecks = ReturnType<typeof eventChecks>;

/** Duplicates are searched within this many events, because a repeated append follows the first one closely. */
const DUPLICATE_WINDOW = 200_000;

export function eventChecks() {
  const next = new Map<string, number>();
  const rules = streamRules();
  const ids = new Set<string>();
  let last = "";
  /** Of all events so far: a clock that was set back is no tampering. */
  let latest = "";
  return {
    all(stored: StoredText, report: ReportProblem): void {
      const { id, stream, revision, position, recordedAt } = stored;
      const expected = next.get(stream) ?? 0;
      next.set(stream, revision + 1);
      if (revision !== expected) report("order", `revision ${expected} was expected`);
      if (position <= last) report("order", "its position is not behind the one before");
      last = position;
      if (ids.has(id)) report("duplicate", `event ${id} is there twice`);
      if (id !== "") addBounded(ids, id);
      // What a seal says is judged as a seal.
      if (stream === SEALS_STREAM) return;
      if (recordedAt > latest) latest = recordedAt;
      const event = read(stored, report);
      if (!event) {
        rules.lose(stream);
        return;
      }
      if (Date.parse(event.data.at) > Date.parse(latest) + CLOCK_SKEW_MS)
        report("time", `happened at ${event.data.at}, after it was recorded`);
      const broken = rules.violation(event);
      if (broken) report("rule", `${event.type}: ${broken}`);
    },

    /** How many there are of each kind. */
    streams() {
      const names = [...next.keys()];
      const of = (prefix: string) => names.filter((name) => name.startsWith(prefix)).length;
      const counts = Object.entries(PREFIX).map(([kind, prefix]) => [kind, of(prefix)]);
      return Object.fromEntries(counts) as Record<keyof typeof PREFIX, number>;
    },
  };
}

function read(stored: StoredText, report: ReportProblem): StoredEvent | undefined {
  try {
    const { data, metadata, unreadable, ...event } = stored;
    return unreadable === undefined
      ? readEvent({ ...event, data: JSON.parse(data), metadata: JSON.parse(metadata) as EventMetadata })
      : readEvent({ ...event, data: null, metadata: { schemaVersion: 0 }, unreadable });
  } catch (error) {
    report("schema", messageOf(error));
    return undefined;
  }
}

function addBounded(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size <= DUPLICATE_WINDOW) return;
  for (const oldest of ids) {
    ids.delete(oldest);
    return;
  }
}
