// Verifies the whole log in one pass: order, schemas, times, duplicates, and the invariants of each stream.

import type { StoredEvent } from "../events/catalogue.ts";
import { readEvent } from "../events/read-event.ts";
import { CATEGORY, PREFIX } from "../events/streams.ts";
import { messageOf } from "../runtime/errors.ts";
import { CLOCK_SKEW_MS } from "../runtime/moment.ts";
import { logPages } from "../stores/event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../stores/event-store/port.ts";
import { type Anchor, anchorText, LogDigest } from "./log-digest.ts";
import { type LogProblem, type Place, placeOf } from "./seals/places.ts";
import { streamRules } from "./stream-rules.ts";

export type Problem = LogProblem & {
  check: "order" | "schema" | "time" | "duplicate" | "rule" | "anchor" | "seal" | "file";
};

export type LogVerification = {
  ok: boolean;
  events: number;
  streams: Record<keyof typeof PREFIX, number>;
  types: Record<string, number>;
  problemCount: number;
  /** The first MOST_PROBLEMS. */
  problems: Problem[];
  /** Of all events (log-digest.ts), for the `anchor` option of a later verification. */
  anchor: string;
};

type Deps = { eventStore: Pick<EventStore, "readAll">; clock: () => Date };

const PAGE = 5_000;
export const MOST_PROBLEMS = 100;
/** Duplicates are searched within this many events, because a repeated append follows the first one closely. */
const DUPLICATE_WINDOW = 200_000;

/** Called after each page: the number of events so far, and the position of the last one. */
export type Progress = (events: number, position: Position) => void;

export type LogVerificationOptions = {
  /** Of an earlier verification. */
  anchor?: Anchor | undefined;
  /** Checks only events behind this position, and not the rules of streams, which need their beginning. */
  after?: Position | undefined;
  onProgress?: Progress;
  onPage?: (page: readonly RecordedEvent[]) => Promise<void>;
};

export async function verifyLog(
  { eventStore, clock }: Deps,
  options: LogVerificationOptions = {},
): Promise<LogVerification> {
  const { anchor, onProgress, onPage } = options;
  const digest = new LogDigest();
  const checks = eventChecks(clock, { isPart: options.after !== undefined });
  const report = new Report();
  const types = new Map<string, number>();
  const part = { after: options.after, categories: Object.values(CATEGORY), limit: PAGE };
  for await (const page of logPages(eventStore, part)) {
    for (const recorded of page) {
      const at = digest.add(recorded);
      checks.all(recorded, (check, message) => report.add(check, recorded, message));
      count(types, recorded.type || "unreadable");
      if (anchor && at.events === anchor.events && at.digest !== anchor.digest)
        report.add("anchor", recorded, "an event up to here is not what it was when the anchor was made");
    }
    await onPage?.(page);
    onProgress?.(digest.anchor.events, page.at(-1)?.position ?? "");
  }
  if (anchor && digest.anchor.events < anchor.events)
    report.add("anchor", NOWHERE, `the log has ${digest.anchor.events} events, the anchor ${anchor.events}`);
  return {
    ok: report.count === 0,
    events: digest.anchor.events,
    streams: checks.streams(),
    types: Object.fromEntries(types),
    problemCount: report.count,
    problems: report.first,
    anchor: anchorText(digest.anchor),
  };
}

/** Of what concerns no single event. */
export const NOWHERE: Place = { stream: "", revision: -1, position: "" };

class Report {
  count = 0;
  readonly first: Problem[] = [];

  add(check: Problem["check"], event: Place, message: string): void {
    this.count += 1;
    if (this.first.length < MOST_PROBLEMS) this.first.push({ check, ...placeOf(event), message });
  }
}

type ReportProblem = (check: Problem["check"], message: string) => void;

function eventChecks(clock: () => Date, { isPart }: { isPart: boolean }) {
  const next = new Map<string, number>();
  const rules = streamRules();
  const ids = new Set<string>();
  let last = "";
  return {
    all(recorded: RecordedEvent, report: ReportProblem): void {
      const expected = next.get(recorded.stream) ?? (isPart ? recorded.revision : 0);
      next.set(recorded.stream, recorded.revision + 1);
      if (recorded.revision !== expected) report("order", `revision ${expected} was expected`);
      if (recorded.position <= last) report("order", "its position is not behind the one before");
      last = recorded.position;
      if (ids.has(recorded.id)) report("duplicate", `event ${recorded.id} is there twice`);
      if (recorded.id !== "") addBounded(ids, recorded.id);
      const event = read(recorded, report);
      if (!event) {
        rules.lose(recorded.stream);
        return;
      }
      const late = timeProblem(event, clock());
      if (late) report("time", late);
      const broken = isPart ? undefined : rules.violation(event);
      if (broken) report("rule", `${event.type}: ${broken}`);
    },
    streams() {
      const names = [...next.keys()];
      const of = (prefix: string) => names.filter((name) => name.startsWith(prefix)).length;
      const counts = Object.entries(PREFIX).map(([kind, prefix]) => [kind, of(prefix)]);
      return Object.fromEntries(counts) as LogVerification["streams"];
    },
  };
}

function read(recorded: RecordedEvent, report: ReportProblem): StoredEvent | undefined {
  try {
    return readEvent(recorded);
  } catch (error) {
    report("schema", messageOf(error));
    return undefined;
  }
}

/** An event's own time must not be later than its recording, and neither may lie in the future. */
function timeProblem({ data, recordedAt }: StoredEvent, now: Date): string | undefined {
  const recorded = Date.parse(recordedAt);
  if (recorded > now.getTime() + CLOCK_SKEW_MS) return `recorded at ${recordedAt}, in the future`;
  if (Date.parse(data.at) > recorded + CLOCK_SKEW_MS) return `happened at ${data.at}, after it was recorded`;
  return undefined;
}

function addBounded(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size <= DUPLICATE_WINDOW) return;
  for (const oldest of ids) {
    ids.delete(oldest);
    return;
  }
}

function count(counts: Map<string, number>, type: string): void {
  counts.set(type, (counts.get(type) ?? 0) + 1);
}
