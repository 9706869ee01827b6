// `audit verify`: checks the log against its seals, from the last good one on or from the beginning.
import type { EventStore, Position } from "../event-store/port.ts";
import { type Anchor, parseAnchor } from "./log-digest.ts";
import type { TagKeys } from "./seals/differences.ts";
import { type Judged, SealJudge, sealFacts, sealProblem, sealProblems } from "./seals/judge-seals.ts";
import type { LogProblem } from "./seals/places.ts";
import { sealsBackwards } from "./seals/read-seals.ts";
import { SealedBlocks } from "./seals/sealed-blocks.ts";
import type { NewestSeal } from "./seals/sealer.ts";
import { type LogVerification, MOST_PROBLEMS, NOWHERE, type Problem, verifyLog } from "./verify-log.ts";

/** What was kept outside of the log: a digest over all events up to one, or the hash of a seal. */
export type KnownPast = { log: Anchor } | { seal: { number: number; hash: string } };

/** Parses `anchor` of an earlier verification; undefined for other text. */
export function parseKnownPast(text: string): KnownPast | undefined {
  const [, number, hash] = /^seal:(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number !== undefined && hash !== undefined) return { seal: { number: Number(number), hash } };
  const log = parseAnchor(text);
  return log && { log };
}

export type SealedVerification = LogVerification & {
  /**
   * `good`: the newest good seal, which reaches `position`. `from`: the seal behind which events were checked, null for
   * all of them. `unsealed`: events behind the last seal.
   */
  seals: { good: number | null; from: number | null; position: Position | null; unsealed: number };
};

type Deps = {
  eventStore: Pick<EventStore, "read" | "readAll">;
  clock: () => Date;
  /** Whose seals are good: of SECRET_KEY and SECRET_KEY_PREVIOUS. */
  keys: readonly TagKeys[];
  newest: Pick<NewestSeal, "get">;
  /** What is wrong with the file of an embedded log; absent on a server. */
  integrityProblems?: (() => Promise<string[]>) | undefined;
};

export type SealedVerificationOptions = {
  /** All events, instead of those behind the last good seal. */
  full?: boolean;
  known?: KnownPast | undefined;
  onProgress?: (events: number) => void;
};

export async function verifySealedLog(
  deps: Deps,
  { full = false, known, onProgress }: SealedVerificationOptions = {},
): Promise<SealedVerification> {
  const anchor = known && "log" in known ? known.log : undefined;
  const kept = known && "seal" in known ? known.seal : undefined;
  const isFull = full || anchor !== undefined;
  // Before the seals are read: one that is appended in between was not removed.
  const newest = await deps.newest.get();
  const { judged, hashes } = await judgeSeals(deps, isFull ? 0 : kept?.number);
  const good = judged.find(({ reason }) => reason === undefined);
  const found = [...removedNewest(newest, judged), ...sealProblems(judged, { isWhole: isFull })].reverse();
  if (kept && hashes.get(kept.number) !== kept.hash)
    found.push(sealProblem(kept.number, "", "is not the one of the anchor"));

  const from = isFull ? undefined : good;
  const reasons = new Map(judged.map(({ event, reason }) => [event.revision, reason]));
  const report = (problem: LogProblem) => void found.push(problem);
  const blocks = isFull ? new SealedBlocks({ ...deps, reasons, report }) : undefined;
  const result = await verifyLog(deps, {
    anchor,
    after: from?.seal?.position,
    ...(onProgress && { onProgress }),
    onPage: async (events) => await blocks?.add(events),
  });
  const unsealed = blocks ? await blocks.end() : result.events;
  const damage = (await deps.integrityProblems?.()) ?? [];
  const problems: Problem[] = [
    ...damage.map((message) => ({ check: "file" as const, ...NOWHERE, message })),
    ...found.map((one) => ({ check: "seal" as const, ...one })),
    ...result.problems,
  ];
  const number = from?.event.revision ?? null;
  return {
    ...result,
    ok: problems.length === 0,
    problemCount: result.problemCount + found.length + damage.length,
    problems: problems.slice(0, MOST_PROBLEMS),
    anchor: number === null ? result.anchor : `seal:${number}:${hashes.get(number)}`,
    seals: {
      ...{ good: good?.event.revision ?? null, from: number, unsealed },
      position: good?.seal?.position ?? null,
    },
  };
}

/** Newest first, down to seal `downTo`; without it, to the newest good one. */
async function judgeSeals({ eventStore, keys }: Deps, downTo: number | undefined) {
  const judge = new SealJudge(keys.map(({ publicKey }) => publicKey));
  const judged: Judged[] = [];
  const hashes = new Map<number, string>();
  for await (const recorded of sealsBackwards(eventStore)) {
    const facts = sealFacts(recorded);
    const one = judge.next(facts);
    judged.push(one);
    hashes.set(one.event.revision, facts.hash);
    if (downTo === undefined ? one.reason === undefined : one.event.revision <= downTo) break;
  }
  return { judged, hashes };
}

/** Seals at the end that were removed leave no gap: only what was kept elsewhere tells. */
function removedNewest(known: Position | undefined, judged: readonly Judged[]): LogProblem[] {
  const last = judged[0]?.event;
  if (known === undefined || known <= (last?.position ?? "")) return [];
  return [sealProblem((last?.revision ?? -1) + 1, known, "and what follows was removed")];
}
