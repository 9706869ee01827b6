// The seals of the log, newest first, each with whether it can be trusted and whose key signed it.
import { type Judged, readSeal, SealJudge, sealFacts } from "../../audit/seals/judge-seals.ts";
import { type SealReader, sealsBackwards } from "../../audit/seals/read-seals.ts";
import type { Position } from "../../event-store/port.ts";
import { SEALS_STREAM } from "../../events/streams.ts";

/** `problem`: why it can't be trusted, null when it can. `key`: of SECRET_KEY, of SECRET_KEY_PREVIOUS, or another one. */
export type ListedSeal = {
  number: number;
  at: string | null;
  position: Position | null;
  events: number | null;
  total: number | null;
  public_key: string | null;
  key: "present" | "previous" | "other";
  problem: string | null;
};

export type SealsPage = {
  seals: ListedSeal[];
  next: number | null;
  /** Of the present SECRET_KEY. */
  public_key: string;
  /** Up to here the log is sealed by a seal that can be trusted; null where there is none on this page. */
  sealed_up_to: Position | null;
};

type Deps = {
  eventStore: SealReader;
  /** Public keys: of SECRET_KEY first. */
  sealKeys: readonly string[];
};

/** Before seal `before`. Those that follow are judged as well, as far as they vouch for those before. */
export async function listSeals(
  { eventStore, sealKeys }: Deps,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<SealsPage> {
  const judge = new SealJudge(sealKeys);
  const shown: Judged[] = [];
  for await (const event of sealsBackwards(eventStore, await firstToJudge())) {
    const judged = judge.next(sealFacts(event));
    if (before === undefined || event.revision < before) shown.push(judged);
    if (shown.length === limit) break;
  }
  const seals = shown.map(({ event, seal, reason }): ListedSeal => {
    const key = seal && sealKeys.indexOf(seal.publicKey);
    return {
      number: event.revision,
      ...{ at: seal?.at ?? null, position: seal?.position ?? null },
      ...{ events: seal?.events ?? null, total: seal?.total ?? null, public_key: seal?.publicKey ?? null },
      key: key === 0 ? "present" : key !== undefined && key > 0 ? "previous" : "other",
      problem: reason ?? null,
    };
  });
  const last = shown.at(-1)?.event.revision ?? 0;
  return {
    seals,
    next: last > 0 ? last : null,
    public_key: sealKeys[0] ?? "",
    sealed_up_to: seals.find(({ problem }) => problem === null)?.position ?? null,
  };

  /** The one that follows the page, if it is signed with one of our keys: it needs nobody to vouch for it. */
  async function firstToJudge(): Promise<number | undefined> {
    if (before === undefined) return undefined;
    const [follower] = await eventStore.read(SEALS_STREAM, { from: before, limit: 1 });
    const key = follower && readSeal(follower)?.publicKey;
    return key !== undefined && sealKeys.includes(key) ? before : undefined;
  }
}
