// A subscription to the log of a file: catches up, then reads again when something was appended.
import type { Position, RecordedEvent } from "../port.ts";
import type { AppendSignal } from "./append-signal.ts";

export type FollowedLog = {
  readAll(after: Position | undefined): Promise<RecordedEvent[]>;
  head(): Promise<Position | undefined>;
  appended: AppendSignal;
};

/** Appends of other processes give no signal. */
const POLL_MS = 200;

/** Pull-based: reads only when the consumer requests the next batch. Ends when the signal aborts. */
export async function* follow(
  log: FollowedLog,
  after: Position | undefined,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent[]> {
  let position = after ?? "";
  while (!signal.aborted) {
    const signals = log.appended.count;
    const head = (await log.head()) ?? "";
    if (position < head) {
      const batch = await log.readAll(position || undefined);
      if (signal.aborted) return;
      // Without a matching event the next read starts at the head, so that nothing is searched twice.
      position = batch.at(-1)?.position ?? head;
      if (batch.length > 0) yield batch;
    } else if (log.appended.count === signals) {
      await log.appended.next(POLL_MS, signal);
    }
  }
}
