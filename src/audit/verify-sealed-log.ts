// `audit verify`: checks every event of the log, and all of its seals; on wish only what came after a kept anchor.
import type { EventStore, Position } from "../stores/event-store/port.ts";
import { type Anchor, parseAnchor } from "./log-digest.ts";
import type { TagKeys } from "./seals/differences.ts";
import { type Judged, SealJudge, sealFacts, sealProblem, sealProblems } from "./seals/judge-seals.ts";
import type { LogProblem } from "./seals/places.ts";
import { type SealReader, sealsBackwards } from "./seals/read-seals.ts";
import { SealedBlocks } from "./seals/sealed-blocks.ts";
import type { NewestSeal } from "./seals/sealer.ts";
import { type Judgement, verdictOf } from "./verdict.ts";
import {
  type LogVerification,
  MOST_PROBLEMS,
  NOWHERE,
  type Problem,
  type Progress,
  verifyLog,
} from "./verify-log.ts";

/** What was kept outside of the log: a digest over all events up to one, or the hash of a seal. */
export type KnownPast = { log: Anchor } | { seal: KnownSeal };
export type KnownSeal = { number: number; hash: string };

/** Parses `anchor` of an earlier verification; undefined for other text. */
export function parseKnownPast(text: string): KnownPast | undefined {
  const [, number, hash] = /^seal:(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number !== undefined && hash !== undefined) return { seal: { number: Number(number), hash } };
  const log = parseAnchor(text);
  return log && { log };
}

export type SealedVerification = LogVerification &
  Judgement & {
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
    /** Of the newest good seal, for the `anchor` and `resumeFrom` of a later verification. */
    sealAnchor: string | null;
    /** What was not read, up to the seal of `resumeFrom`. */
    skipped: { events: number; position: Position } | null;
  };

type Deps = {
  eventStore: Pick<EventStore, "read" | "readAll">;
  clock: () => Date;
  /** Of SECRET_KEY and SECRET_KEY_PREVIOUS. */
  keys: readonly TagKeys[];
  newest: Pick<NewestSeal, "get">;
  /** What is wrong with the file of an embedded log; absent on a server. */
  integrityProblems?: (() => Promise<string[]>) | undefined;
};

/** Public keys whose seals are good, and where they come from, as the verdict says it. */
export type Trust = { publicKeys: readonly string[]; keyOrigin: string };

export type SealedVerificationOptions = {
  /** By default the public keys of `keys`. */
  trust?: Trust | undefined;
  known?: KnownPast | undefined;
  /** Leaves out what this seal covers. */
  resumeFrom?: KnownSeal | undefined;
  onProgress?: Progress;
};

export async function verifySealedLog(
  deps: Deps,
  { trust, known, resumeFrom, onProgress }: SealedVerificationOptions = {},
): Promise<SealedVerification> {
  const { publicKeys, keyOrigin } = trust ?? {
    publicKeys: deps.keys.map(({ publicKey }) => publicKey),
    keyOrigin: "of SECRET_KEY",
  };
  // Before the seals are read: one that is appended in between was not removed.
  const newest = await deps.newest.get();
  const { judged, hashes } = await judgeSeals(deps.eventStore, publicKeys);
  const good = judged.filter(({ reason }) => reason === undefined);
  const last = good[0]?.seal;
  const found = [...removedNewest(newest, judged), ...sealProblems(judged)].reverse();
  for (const kept of [known && "seal" in known ? known.seal : undefined, resumeFrom])
    if (kept && hashes.get(kept.number) !== kept.hash)
      found.push(sealProblem(kept.number, "", "is not the one of the anchor"));

  const skipped = resumeFrom && judged.find(({ event }) => event.revision === resumeFrom.number)?.seal;
  const reasons = new Map(judged.map(({ event, reason }) => [event.revision, reason]));
  const report = (problem: LogProblem) => void found.push(problem);
  const blocks = new SealedBlocks({ ...deps, reasons, report }, skipped);
  const result = await verifyLog(deps, {
    anchor: known && "log" in known ? known.log : undefined,
    after: skipped?.position,
    ...(onProgress && { onProgress }),
    onPage: (events) => blocks.add(events),
  });
  const unsealed = await blocks.end();
  const damage = (await deps.integrityProblems?.()) ?? [];
  const problems: Problem[] = [
    ...damage.map((message) => ({ check: "file" as const, ...NOWHERE, message })),
    ...found.map((one) => ({ check: "seal" as const, ...one })),
    ...result.problems,
  ];
  const problemCount = result.problemCount + found.length + damage.length;
  const sealed = result.events - unsealed;
  const sealAnchor = last ? `seal:${last.number}:${hashes.get(last.number)}` : null;
  return {
    ...result,
    ...verdictOf({ problemCount, problems, seal: last, keyOrigin, sealed, unsealed, skipped }),
    problemCount,
    problems: problems.slice(0, MOST_PROBLEMS),
    anchor: skipped && sealAnchor ? sealAnchor : result.anchor,
    sealAnchor,
    seals: {
      ...{ count: judged.length, good: good.length, newest: last?.number ?? null },
      ...{ position: last?.position ?? null, at: last?.at ?? null, public_key: last?.publicKey ?? null },
      unsealed,
    },
    skipped: skipped ? { events: skipped.total, position: skipped.position } : null,
  };
}

/** Newest first. */
async function judgeSeals(eventStore: SealReader, publicKeys: readonly string[]) {
  const judge = new SealJudge(publicKeys);
  const judged: Judged[] = [];
  const hashes = new Map<number, string>();
  for await (const recorded of sealsBackwards(eventStore)) {
    const facts = sealFacts(recorded);
    judged.push(judge.next(facts));
    hashes.set(recorded.revision, facts.hash);
  }
  return { judged, hashes };
}

/** Seals at the end that were removed leave no gap: only what was kept elsewhere tells. */
function removedNewest(known: Position | undefined, judged: readonly Judged[]): LogProblem[] {
  const last = judged[0]?.event;
  if (known === undefined || known <= (last?.position ?? "")) return [];
  return [sealProblem((last?.revision ?? -1) + 1, known, "and what follows was removed")];
}
