// A log in memory with its seals, for tests that change it a hundred thousand times.
import { BlockCheck } from "../../../src/audit/seals/check-blocks.ts";
import type { TagKeys } from "../../../src/audit/seals/differences.ts";
import { readSeal, SealJudge, sealFacts, sealProblems } from "../../../src/audit/seals/judge-seals.ts";
import type { LogProblem } from "../../../src/audit/seals/places.ts";
import { type LastSeal, leafOf, makeSeal, type Seal, sealHash } from "../../../src/audit/seals/seal.ts";
import type { SealKeys } from "../../../src/audit/seals/seal-keys.ts";
import { SEALS_STREAM } from "../../../src/events/streams.ts";
import type { RecordedEvent } from "../../../src/stores/event-store/port.ts";

/** `seals`: the stream of that name. Both are in the order of their positions. */
export type SealedLog = { events: RecordedEvent[]; seals: RecordedEvent[] };

const AT = "2026-03-01T10:15:00.000Z";

/** One seal for each block, whose own positions follow those of its events. */
export function sealedLog(blocks: readonly (readonly RecordedEvent[])[], keys: SealKeys): SealedLog {
  const seals: RecordedEvent[] = [];
  let last: LastSeal | undefined;
  for (const events of blocks) {
    const seal = makeSeal(keys, last, { places: events, leaves: events.map(leafOf), at: AT });
    const recorded = recordedSeal(seal);
    last = { seal, hash: sealHash(recorded) };
    seals.push(recorded);
  }
  return { events: blocks.flat(), seals };
}

export function recordedSeal(seal: Seal): RecordedEvent {
  return {
    id: `00000000-0000-4000-9000-${String(seal.number).padStart(12, "0")}`,
    stream: SEALS_STREAM,
    revision: seal.number,
    position: `${seal.position}s`,
    recordedAt: AT,
    type: "LogSealed",
    data: seal,
    metadata: {
      schemaVersion: 1,
      correlationId: "",
      causationId: "",
      actor: { type: "system", id: "sealing" },
    },
  };
}

/** What a full verification says of the seals and of the events under them. */
export function problemsOf(
  { events, seals }: SealedLog,
  keys: readonly TagKeys[],
  trusted: readonly string[],
): LogProblem[] {
  const judge = new SealJudge(trusted);
  const byRevision = [...seals].sort((a, b) => b.revision - a.revision);
  const judged = byRevision.map((event) => judge.next(sealFacts(event)));
  const found = sealProblems(judged);
  const check = new BlockCheck({ keys, report: (problem) => void found.push(problem) });
  check.add([...events].sort((a, b) => (a.position < b.position ? -1 : 1)));
  for (const [n, { event, reason }] of judged.reverse().entries())
    check.close({ event, reason, seal: readSeal(byRevision.at(-1 - n) as RecordedEvent) });
  check.end();
  return found;
}

export function sealOf(recorded: RecordedEvent | undefined): Seal {
  const seal = recorded && readSeal(recorded);
  if (!seal) throw new Error("no seal");
  return seal;
}
