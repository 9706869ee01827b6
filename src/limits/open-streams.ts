// How many streams, or exports, are open: of an account in all processes, and in all in this one.
import type { Counting, Counts } from "../stores/counts/counts.ts";

/** `kind`: names the places of accounts, such as `streams`. */
export type OpenStreamsDeps = { counts: Counts; clock: () => Date; kind: string };

export type OpenStreams = {
  /** Undefined when a limit is reached. The caller must pass the controller to `leave` in the end. */
  enter(accountId: string): Promise<AbortController | undefined>;
  leave(stream: AbortController): Promise<void>;
  /** Aborts all of them; `enter` refuses from then on. */
  close(): void;
};

/** How long a place is kept, which a process that was killed can't leave. */
const LASTS_MS = 20_000;
const RENEWED_EVERY_MS = 5_000;

/** An account has numbered places, each of them a count of at most one. */
export function openStreams(
  { counts, clock, kind }: OpenStreamsDeps,
  { ofAccount, inProcess }: { ofAccount: number; inProcess: number },
): OpenStreams {
  const places = new Map<AbortController, string | undefined>();
  let isClosed = false;
  const count = (place: string, counting: Pick<Counting, "add" | "most" | "atLeast">) =>
    counts.count(place, clock().getTime(), { ...counting, lastsMs: LASTS_MS, isProlonged: true });
  const freePlace = async (accountId: string) => {
    for (let number = 0; number < ofAccount; number++) {
      const place = `${kind} ${accountId} ${number}`;
      if ((await count(place, { add: 1, most: 1, atLeast: 0 }))?.granted) return place;
    }
    return undefined;
  };
  const renewing = setInterval(async () => {
    const named = [...places.values()].filter((place) => place !== undefined);
    // Fewer than two: so it lasts, whatever has become of it meanwhile.
    await Promise.all(named.map((place) => count(place, { add: 0, most: 2, atLeast: 1 })));
  }, RENEWED_EVERY_MS).unref();
  const leave = async (stream: AbortController) => {
    stream.abort();
    const place = places.get(stream);
    places.delete(stream);
    if (place !== undefined) await count(place, { add: -1, most: 1, atLeast: 0 });
  };
  return {
    async enter(accountId) {
      if (isClosed || places.size >= inProcess) return undefined;
      const stream = new AbortController();
      // Counted here before the wait, so that nobody else gets the last one.
      places.set(stream, undefined);
      const place = await freePlace(accountId);
      places.set(stream, place);
      if (place !== undefined && !isClosed) return stream;
      await leave(stream);
      return undefined;
    },
    leave,
    close() {
      isClosed = true;
      clearInterval(renewing);
      for (const stream of places.keys()) stream.abort();
    },
  };
}
