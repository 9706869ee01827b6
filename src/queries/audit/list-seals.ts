// The seals of the log, newest first, each with whether it can be trusted and whose key signed it.
import { type Judged, readSeal, SealJudge, sealFacts } from "../../audit/seals/judge-seals.ts";
import { type SealReader, sealsBackwards } from "../../audit/seals/read-seals.ts";
import { SEALS_STREAM } from "../../events/streams.ts";

export type ListedSeal = Awaited<ReturnType<typeof listSeals>>["seals"][number];

type Deps = {
  eventStore: SealReader;
  /** Public keys: of SECRET_KEY first. */
  sealKeys: readonly string[];
};

/**
 * Before seal `before`. Those that follow are judged as well, as far as they vouch for those before. `problem`: why a seal
 * can't be trusted. `key`: of SECRET_KEY, of SECRET_KEY_PREVIOUS, or another one. `public_key`: of the present SECRET_KEY.
 * `sealed_up_to`: by a seal that can be trusted; null where there is none on this page.
 */
export async function listSeals(
  { eventStore, sealKeys }: Deps,
  { before, limit }: { before?: number | undefined; limit: number },
) {
  const judge = new SealJudge(sealKeys);
  const shown: Judged[] = [];
  for await (const event of sealsBackwards(eventStore, await firstToJudge())) {
    const judged = judge.next(sealFacts(event, readSeal(event)));
    if (before === undefined || event.revision < before) shown.push(judged);
    if (shown.length === limit) break;
  }
  const seals = shown.map(({ event, seal, reason = null }) => {
    const { at = null, position = null, events = null, total = null, publicKey = null } = seal ?? {};
    const nth = publicKey === null ? -1 : sealKeys.indexOf(publicKey);
    const key = nth === 0 ? "present" : nth > 0 ? "previous" : "other";
    const facts = { at, position, events, total, public_key: publicKey, key } as const;
    return { number: event.revision, ...facts, problem: reason };
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
