// The seals of the log, newest first, each with whether it can be trusted and whose key signed it.
import { SealJudge, sealFacts } from "../../audit/seals/judge-seals.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { SEALS_STREAM } from "../../events/streams.ts";

/** `problem`: why it can't be trusted, null when it can. `key`: `ours` is of SECRET_KEY or SECRET_KEY_PREVIOUS. */
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
  eventStore: Pick<EventStore, "read">;
  /** Public keys: of SECRET_KEY first. */
  sealKeys: readonly string[];
};

/** Before seal `before`. The one that follows is judged again, as it vouches for those before. */
export async function listSeals(
  { eventStore, sealKeys }: Deps,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<SealsPage> {
  const options = { backwards: true, limit: limit + 1 };
  const recorded =
    before === undefined
      ? await eventStore.read(SEALS_STREAM, options)
      : await eventStore.read(SEALS_STREAM, { ...options, from: before, limit: limit + 2 });
  const judge = new SealJudge(sealKeys);
  const judged = recorded.map((event) => judge.next(sealFacts(event)));
  const shown = judged.filter(({ event }) => before === undefined || event.revision < before).slice(0, limit);
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
}
