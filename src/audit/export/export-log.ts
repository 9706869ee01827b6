// Writes a part of the log as the lines that were hashed, with what proves to who has only the public key that it is that part.

import { SEALS_STREAM } from "../../events/streams.ts";
import type { EventStore, StoredText } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import { readSeal } from "../seals/judge-seals.ts";
import { leafHash, lineOf, pruned } from "../seals/merkle.ts";
import { SEALS_PAGE, type SealReader } from "../seals/read-seals.ts";
import { storedPages } from "../stored-pages.ts";
import { EXPORT_FORMAT, type ExportSelection, isSelected } from "./export-lines.ts";

type Deps = { eventStore: SealReader & Pick<EventStore, "readStored"> };

/**
 * A line at a time, without its end. Blocks of which nothing is selected are left out. Of a block that is there in part, the
 * rest is there as hashes.
 */
export async function* exportLog({ eventStore }: Deps, selection: ExportSelection): AsyncGenerator<string> {
  yield JSON.stringify({ export: EXPORT_FORMAT, ...selection });
  // A seal that is appended meanwhile may cover events behind those that are read here.
  const [newest] = await eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
  const log = eventsOf(eventStore);
  let next = await log.next();
  let after = "";
  for await (const page of streamPages(eventStore, SEALS_STREAM, 0, SEALS_PAGE))
    for (const recorded of page) {
      const seal = recorded.revision > (newest?.revision ?? -1) ? undefined : readSeal(recorded);
      // The events of a seal that can't be read come with the next one, and verifying says so.
      if (!seal || seal.position < after) continue;
      after = seal.position;
      const events: StoredText[] = [];
      for (; !next.done && next.value.position <= after; next = await log.next()) events.push(next.value);
      const isShown = events.map((event) => isSelected(selection, event));
      if (!isShown.includes(true)) continue;
      yield JSON.stringify({ seal });
      yield* linesOf(events.map(lineOf), isShown);
    }
  yield JSON.stringify({ unsealed: true });
  for (; !next.done; next = await log.next()) if (isSelected(selection, next.value)) yield lineOf(next.value);
  yield JSON.stringify({ end: true });
}

/** Of one block: what is shown, and the hashes of the rest. */
export function* linesOf(lines: readonly string[], isShown: readonly boolean[]): Generator<string> {
  let n = 0;
  for (const { hash, events } of pruned(lines.map(leafHash), (leaf) => isShown[leaf] === true)) {
    yield isShown[n] ? (lines[n] as string) : JSON.stringify({ hash: hash.toString("hex"), events });
    n += events;
  }
}

async function* eventsOf(eventStore: Pick<EventStore, "readStored">): AsyncGenerator<StoredText, undefined> {
  for await (const page of storedPages(eventStore)) yield* page.events;
  return undefined;
}
