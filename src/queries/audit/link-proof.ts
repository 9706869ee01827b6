// What the whole log says of one link: whether its events are those that were sealed, and how many clicks it has.

import { streamsOfLink } from "../../audit/export/export-lines.ts";
import { verifyLog } from "../../audit/verify-log.ts";
import { SEALS_STREAM } from "../../events/streams.ts";
import { isWithdrawnBy } from "../../events/withdrawals.ts";
import { withdrawalsOf } from "../../projections/fold/read-withdrawals.ts";
import type { EventStore, Position, RecordedEvent, StoredText } from "../../stores/event-store/port.ts";
import { type HitCounts, hitCounts } from "../links/hits-of-links.ts";
import { clicksInLog } from "./clicks-in-log.ts";

const MOST_UNREADABLE = 10;

type Deps = { eventStore: EventStore; sealKeys: readonly string[] };

/** `events`: of the link, as they were read by their streams after `head`. `seals`: numbers of those that cover them. */
type LinkInLog = {
  link: string;
  events: readonly RecordedEvent[];
  seals: readonly number[];
  head: Position;
};

/**
 * Reads the whole log: the link's events must be those that lie in it, without others, each with its own leaf below seals
 * whose blocks are what was sealed.
 */
export async function proofProblems(
  { eventStore, sealKeys }: Deps,
  { link, events, seals, head }: LinkInLog,
): Promise<string[]> {
  const streams = streamsOfLink(link);
  const stored = new Map<Position, StoredText>();
  const problems: string[] = [];
  const { broken } = await verifyLog(
    { eventStore },
    {
      trust: { publicKeys: sealKeys, keyOrigin: "" },
      onEvent(event) {
        if (streams.includes(event.stream)) stored.set(event.position, event);
      },
      onProblem({ stream, revision, message }) {
        const isOfLink = streams.includes(stream) || (stream === SEALS_STREAM && seals.includes(revision));
        if (stream === "") problems.push(message);
        else if (isOfLink)
          problems.push(revision < 0 ? message : `${placeText(stream, revision)} ${message}`);
      },
    },
  );
  for (const number of broken)
    if (seals.includes(number)) problems.push(`what lies under seal ${number} is not what was sealed`);
  for (const event of events) {
    const { stream, revision, position } = event;
    if (!isSame(event, stored.get(position)))
      problems.push(`${placeText(stream, revision)} is not what lies in the log at position ${position}`);
    stored.delete(position);
  }
  for (const { stream, revision, position } of stored.values())
    if (position <= head)
      problems.push(`${placeText(stream, revision)} lies in the log, and is not found by its stream`);
  return [...new Set(problems)];
}

function isSame(event: RecordedEvent, stored: StoredText | undefined): boolean {
  if (stored?.id !== event.id || stored.stream !== event.stream || stored.revision !== event.revision)
    return false;
  // The verification speaks of one that can't be read so.
  return stored.unreadable !== undefined || stored.data === JSON.stringify(event.data);
}

function placeText(stream: string, revision: number): string {
  return `revision ${revision} of ${stream}`;
}

/** Counts in the log what the document has counted, and says where they differ. */
export async function recount(
  { eventStore }: Pick<Deps, "eventStore">,
  link: string,
  { position: after }: RecordedEvent,
  clicks: HitCounts & { up_to: Position | null },
): Promise<string[]> {
  if (clicks.up_to === null) return [];
  const isWithdrawn = isWithdrawnBy(await withdrawalsOf({ eventStore }, link, clicks.up_to));
  const counts = hitCounts();
  const unreadable: string[] = [];
  for await (const page of clicksInLog({ eventStore }, { link }, { after, upTo: clicks.up_to }))
    for (const click of page)
      if ("unreadable" in click) {
        if (unreadable.length < MOST_UNREADABLE)
          unreadable.push(`a click at position ${click.unreadable.position} that may be of it can't be read`);
      } else if (!isWithdrawn({ ...click.data, position: click.position })) {
        counts[click.data.kind] += 1;
        counts.total += 1;
      }
  const kinds = ["click", "preview", "qr_scan"] as const;
  const wrong = kinds
    .filter((kind) => counts[kind] !== clicks[kind])
    .map((kind) => `${clicks[kind]} hits of kind ${kind} are counted, by the log ${counts[kind]}`);
  return [...wrong, ...unreadable];
}
