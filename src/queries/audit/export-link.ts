// The proof of one link that its owner takes home: its events as they were hashed, and the seals that cover them, with hashes
// in place of everybody else's events.
import { EXPORT_FORMAT, isSelected, streamsOfLink } from "../../audit/export/export-lines.ts";
import { linesOf } from "../../audit/export/export-log.ts";
import { lineOf } from "../../audit/seals/merkle.ts";
import { sealAt } from "../../audit/seals/read-seals.ts";
import { shownSeal } from "../../audit/seals/seal.ts";
import { Refused } from "../../commands/refusals.ts";
import { ALL_CATEGORIES } from "../../events/streams.ts";
import { type EventStore, type Position, START, type StoredText } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import { coverageOf } from "./covering-seals.ts";

type Deps = { eventStore: Pick<EventStore, "read" | "readStored"> };

const PAGE = 2_000;

/** A line at a time, with its end. `link`: its key. Reads the blocks of its seals, of ten thousand events at most each. */
export async function* exportLink({ eventStore }: Deps, link: string): AsyncGenerator<string> {
  yield line({ export: EXPORT_FORMAT, link });
  const positions: Position[] = [];
  for (const stream of streamsOfLink(link))
    for await (const page of streamPages(eventStore, stream))
      positions.push(...page.map(({ position }) => position));
  const { numbers, newest, unsealed } = await coverageOf(eventStore, positions, []);
  for (const number of numbers) {
    const seal = await sealAt(eventStore, number);
    if (!seal) throw new Refused("bad_export", `Seal ${number} can't be read, and so proves nothing`);
    const events = await stored(eventStore, seal.after === "" ? START : seal.after, seal.position);
    yield line({ seal: shownSeal(seal) });
    const isShown = events.map((event) => isSelected({ link }, event));
    for (const text of linesOf(events.map(lineOf), isShown)) yield `${text}\n`;
  }
  yield line({ unsealed: true });
  const last = unsealed.toSorted().at(-1);
  if (last !== undefined)
    for (const event of await stored(eventStore, newest ?? START, last))
      if (isSelected({ link }, event)) yield `${lineOf(event)}\n`;
  yield line({ end: true });
}

async function stored(
  eventStore: Pick<EventStore, "readStored">,
  from: Position,
  upTo: Position,
): Promise<StoredText[]> {
  const events: StoredText[] = [];
  for (let after = from; ; ) {
    const page = await eventStore.readStored({ after, categories: ALL_CATEGORIES, limit: PAGE });
    events.push(...page.events.filter(({ position }) => position <= upTo));
    if (page.events.length < PAGE || page.next >= upTo) return events;
    after = page.next;
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
