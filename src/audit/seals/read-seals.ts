// Reads the stream of seals in pages, as a seal is tens of kilobytes.

import { SEALS_STREAM } from "../../events/streams.ts";
import { type EventStore, type RecordedEvent, StreamRemoved } from "../../stores/event-store/port.ts";
import { type Judged, readSeal, SealJudge, sealFacts } from "./judge-seals.ts";
import type { Seal } from "./seal.ts";

export const SEALS_PAGE = 20;

export type SealReader = Pick<EventStore, "read">;

/** Newest first. `upTo`: number of the first one, inclusive; the newest of all by default. */
export async function* sealsBackwards(
  eventStore: SealReader,
  upTo?: number | undefined,
): AsyncGenerator<RecordedEvent> {
  let from = upTo;
  for (;;) {
    const options = { backwards: true, limit: SEALS_PAGE, ...(from === undefined ? {} : { from }) };
    const page = await eventStore.read(SEALS_STREAM, options);
    yield* page;
    const oldest = page.at(-1)?.revision ?? 0;
    if (oldest === 0) return;
    from = oldest - 1;
  }
}

/** Newest first, as far as they can be read. `trusted`: public keys. */
export async function judgedSeals(eventStore: SealReader, trusted: readonly string[]): Promise<Judged[]> {
  const judge = new SealJudge(trusted);
  const judged: Judged[] = [];
  try {
    for await (const event of sealsBackwards(eventStore))
      judged.push(judge.next(sealFacts(event, readSeal(event))));
  } catch (error) {
    // The structure of the store says so.
    if (!(error instanceof StreamRemoved)) throw error;
  }
  return judged;
}

/** With all that it keeps; undefined when it is not there, or can't be read. */
export async function sealAt(eventStore: SealReader, number: number): Promise<Seal | undefined> {
  const [event] = await eventStore.read(SEALS_STREAM, { from: number, limit: 1 });
  return event?.revision === number ? readSeal(event) : undefined;
}
