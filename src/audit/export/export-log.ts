// Writes a part of the log as lines of JSON, with what proves to who has only the public key that it is that part.

import { CATEGORY, SEALS_STREAM } from "../../events/streams.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import { readSeal } from "../seals/judge-seals.ts";
import { pruned } from "../seals/merkle.ts";
import { type SealReader, sealsForwards } from "../seals/read-seals.ts";
import { leafOf } from "../seals/seal.ts";
import { EXPORT_FORMAT, type ExportLine, type ExportSelection, isSelected } from "./export-lines.ts";

const PAGE = 1_000;

type Deps = { eventStore: SealReader & Pick<EventStore, "readAll"> };

/** Blocks of which nothing is selected are left out. Of a block that is there in part, the rest is there as hashes. */
export async function* exportLog(
  { eventStore }: Deps,
  selection: ExportSelection,
): AsyncGenerator<ExportLine> {
  yield { export: EXPORT_FORMAT, ...selection };
  // A seal that is appended meanwhile may cover events behind those that are read here.
  const [newest] = await eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
  const log = eventsOf(eventStore);
  let next = await log.next();
  let after = "";
  for await (const recorded of sealsForwards(eventStore)) {
    if (recorded.revision > (newest?.revision ?? -1)) break;
    const seal = readSeal(recorded);
    // The events of a seal that can't be read come with the next one, and verifying says so.
    if (!seal || seal.position < after) continue;
    after = seal.position;
    const events: RecordedEvent[] = [];
    for (; !next.done && next.value.position <= after; next = await log.next()) events.push(next.value);
    const isShown = events.map((event) => isSelected(selection, event));
    // A seal of no events, made after a change of SECRET_KEY, vouches for the one before.
    const isEmptySelected =
      events.length === 0 && isSelected(selection, { stream: SEALS_STREAM, position: after });
    if (!isEmptySelected && !isShown.includes(true)) continue;
    yield { seal: recorded };
    let n = 0;
    for (const { hash, events: count } of pruned(events.map(leafOf), (leaf) => isShown[leaf] === true)) {
      if (count === 1 && isShown[n]) yield { event: events[n] as RecordedEvent };
      else yield { hash: hash.toString("hex"), events: count };
      n += count;
    }
  }
  yield { unsealed: true };
  for (; !next.done; next = await log.next())
    if (isSelected(selection, next.value)) yield { event: next.value };
  yield { end: true };
}

async function* eventsOf(eventStore: Pick<EventStore, "readAll">): AsyncGenerator<RecordedEvent, undefined> {
  const part = { categories: Object.values(CATEGORY), limit: PAGE };
  for await (const page of logPages(eventStore, part)) yield* page;
  return undefined;
}
