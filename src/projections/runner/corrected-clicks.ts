// The clicks of a link as of a withdrawal or its end: which of them counted before it, and which count after it.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { clicksBetween } from "../../audit/clicks/clicks-between.ts";
import { withdrawalsBefore } from "../../audit/clicks/read-withdrawals.ts";
import type { StoredEvent, WithdrawalEvent } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import { isWithdrawnBy, withdrawalsAfter } from "../../events/withdrawals.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import type { CorrectedClick, DocumentCorrection } from "./document-correction.ts";

export type Correction = StoredEvent & WithdrawalEvent;

const TYPES: ReadonlySet<string> = new Set<WithdrawalEvent["type"]>(["ClicksWithdrawn", "ClicksRestored"]);

export function isCorrection<T extends Pick<RecordedEvent, "type">>(event: T): event is T & WithdrawalEvent {
  return TYPES.has(event.type);
}

/** Cuts a batch around events that change which clicks count: each of them is the only event of its part. */
export function* partsAtCorrections(
  events: readonly RecordedEvent[],
): Generator<readonly RecordedEvent[], void> {
  let from = 0;
  for (const [n, event] of events.entries()) {
    if (!isCorrection(event)) continue;
    if (n > from) yield events.slice(from, n);
    yield [event];
    from = n + 1;
  }
  if (from === 0) yield events;
  else if (from < events.length) yield events.slice(from);
}

/**
 * Reads all clicks of the link that were recorded before the event, once for all projections. Follows from the log alone:
 * a replay finds the same. @throws what the stores throw
 */
export async function correct(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll"> },
  event: Correction,
  corrections: readonly DocumentCorrection[],
): Promise<void> {
  if (corrections.length === 0) return;
  const link = event.stream.slice(PREFIX.withdrawals.length);
  const before = await withdrawalsBefore({ eventStore }, link, event.position);
  const wasWithdrawn = isWithdrawnBy(before);
  const isWithdrawn = isWithdrawnBy(withdrawalsAfter(before, event));
  // No click precedes it.
  const [created] = await eventStore.read(`${PREFIX.link}${link}`, { limit: 1 });
  const range = { after: created?.position ?? "", upTo: event.position };
  let last: Position = "";
  for await (const clicks of clicksBetween({ eventStore }, link, range)) {
    const corrected: CorrectedClick[] = [];
    for (const click of clicks) {
      // Delivered again.
      if (click.position <= last) continue;
      last = click.position;
      const facts = { ...click.data, position: click.position };
      corrected.push({ click, counted: !wasWithdrawn(facts), counts: !isWithdrawn(facts) });
    }
    for (const correction of corrections) await correction.add(corrected);
    // A long log is read for it: claims of builds are renewed, and the status is reported meanwhile.
    await yieldToLoop();
  }
}
