// `audit verify`: reads every event of the log once and checks it against the seals and the rules of its
// stream.
import { ALL_CATEGORIES, SEALS_STREAM } from "../events/streams.ts";
import type { TimeSlices } from "../runtime/threads/time-slices.ts";
import type { EventStore, Position, StoredText } from "../stores/event-store/port.ts";
import { type EventChecks, eventChecks } from "./event-checks.ts";
import { BlockCheck } from "./seals/check-blocks.ts";
import { type Judged, type SealHeader, sealProblem, sealProblems } from "./seals/judge-seals.ts";
import { type LogProblem, NOWHERE, type Place, placeOf } from "./seals/places.ts";
import { judgedSeals } from "./seals/read-seals.ts";
import { anchorText, type KnownSeal } from "./seals/seal.ts";
import { storedPages } from "./stored-pages.ts";
import { type Judgement, verdictOf } from "./verdict.ts";

export type Problem = LogProblem & {
  check: "order" | "schema" | "time" | "duplicate" | "rule" | "seal" | "structure";
};

export type LogVerification = Judgement & {
  /** Without seals. */
  events: number;
  streams: ReturnType<EventChecks["streams"]>;
  types: Record<string, number>;
  problemCount: number;
  /** The first MOST_PROBLEMS. */
  problems: Problem[];
  /** `good` of `count` seals can be trusted; the newest of these reaches `position`. `unsealed`: events behind the last. */
  seals: {
    count: number;
    good: number;
    newest: number | null;
    position: Position | null;
    at: string | null;
    public_key: string | null;
    unsealed: number;
  };
  /** Numbers of the seals whose blocks are not what was sealed. */
  broken: number[];
  /** Of the newest good seal, for the `anchor` of a later verification. */
  anchor: string | null;
};

type Deps = { eventStore: Pick<EventStore, "read" | "readStored" | "structureProblems"> };

/** Public keys whose seals are good, and where they come from, as the verdict says it. */
export type Trust = { publicKeys: readonly string[]; keyOrigin: string };

export type VerificationOptions = {
  trust: Trust;
  /** The newest seal as it is kept outside of the log, read before: one that is appended meanwhile was not removed. */
  noted?: KnownSeal | undefined;
  /** Of an earlier verification. */
  anchor?: KnownSeal | undefined;
  /** Of a thread that does other work, too. */
  slices?: TimeSlices;
  /** Called after each page: the number of events so far, and up to where the log was looked through. */
  onProgress?: (events: number, position: Position) => void;
  onEvent?: (event: StoredText) => void;
  /** Called with each, also those behind the first hundred. */
  onProblem?: (problem: Problem) => void;
};

const MOST_PROBLEMS = 100;

export async function verifyLog(
  { eventStore }: Deps,
  options: VerificationOptions,
): Promise<LogVerification> {
  const { trust, noted, anchor, slices, onProgress, onEvent, onProblem } = options;
  const judged = await judgedSeals(eventStore, trust.publicKeys);
  const good = judged.flatMap(({ seal, reason }) => (seal && reason === undefined ? [seal] : []));
  const report = new Report(onProblem);
  for (const { stream = "", what } of await eventStore.structureProblems(ALL_CATEGORIES))
    report.add("structure", { ...NOWHERE, stream }, stream === "" ? what : `${stream}: ${what}`);
  for (const problem of [
    ...problemOfKept(judged, noted, "the newest that was made"),
    ...problemOfKept(judged, anchor, "the one of the anchor"),
    ...sealProblems(judged).reverse(),
  ])
    report.add("seal", problem, problem.message);

  const blocks = new BlockCheck(
    { eventStore, report: (problem) => report.add("seal", problem, problem.message) },
    good.toReversed(),
  );
  const checks = eventChecks();
  const types = new Map<string, number>();
  let [events, sealed, unsealed] = [0, 0, 0];
  for await (const page of storedPages(eventStore)) {
    for (const event of page.events) {
      await slices?.next();
      if (blocks.isBehind(event.position)) await blocks.closeBefore(event.position);
      const isBelowSeal = blocks.add(event);
      checks.all(event, (check, message) => report.add(check, event, message));
      onEvent?.(event);
      if (event.stream === SEALS_STREAM) continue;
      events += 1;
      if (isBelowSeal) sealed += 1;
      else if (event.position > (good[0]?.position ?? "")) unsealed += 1;
      const type = event.type || "unreadable";
      types.set(type, (types.get(type) ?? 0) + 1);
    }
    onProgress?.(events, page.next);
  }
  await blocks.closeBefore(undefined);
  const { count: problemCount, first } = report;
  // What a seal says names the event that is gone, and not the one behind it.
  const problems = [...first.filter(isOfProof), ...first.filter((problem) => !isOfProof(problem))];
  const [last] = good;
  return {
    ...verdictOf({ problemCount, problems, seal: last, keyOrigin: trust.keyOrigin, sealed, unsealed }),
    events,
    streams: checks.streams(),
    types: Object.fromEntries(types),
    problemCount,
    problems,
    seals: { count: judged.length, good: good.length, ...newestOf(last), unsealed },
    broken: blocks.broken,
    anchor: last ? anchorText(last) : null,
  };
}

function isOfProof({ check }: Problem): boolean {
  return check === "seal" || check === "structure";
}

function newestOf(seal: SealHeader | undefined) {
  const { number: newest = null, position = null, at = null, publicKey: public_key = null } = seal ?? {};
  return { newest, position, at, public_key };
}

/** Seals at the end that were removed leave no gap: only what was kept elsewhere tells. */
function problemOfKept(judged: readonly Judged[], kept: KnownSeal | undefined, what: string): LogProblem[] {
  if (!kept) return [];
  const there = judged.find(({ event }) => event.revision === kept.number);
  if (!there) return [sealProblem(kept.number, "", `is not in the log any more, and it is ${what}`)];
  return there.seal?.hash === kept.hash
    ? []
    : [sealProblem(kept.number, there.event.position, `is not ${what}`)];
}

class Report {
  count = 0;
  readonly first: Problem[] = [];
  readonly #onProblem: VerificationOptions["onProblem"];

  constructor(onProblem: VerificationOptions["onProblem"]) {
    this.#onProblem = onProblem;
  }

  add(check: Problem["check"], place: Place, message: string): void {
    const problem = { check, ...placeOf(place), message };
    this.count += 1;
    if (this.first.length < MOST_PROBLEMS) this.first.push(problem);
    this.#onProblem?.(problem);
  }
}
