// Reading on through some streams whenever somebody asks: each stretch of the log is searched once.
import type { EventStore, Position, RecordedEvent } from "./port.ts";

const PAGE = 1_000;

/**
 * Hands `see` the events of streams with one of the prefixes that came since it was last asked, and settles when it
 * has seen all there are; at first those after `start`, which is asked once. Who asks while another search is under
 * way shares the next one: strangers must not be able to make a store search the same again for each of them.
 */
export function onDemandReader(
  eventStore: Pick<EventStore, "head" | "readAll">,
  prefixes: readonly string[],
  start: () => Promise<Position | undefined>,
  see: (events: readonly RecordedEvent[]) => void,
): () => Promise<void> {
  let readTo: Position | undefined;
  let hasStarted = false;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const search = async () => {
    if (!hasStarted) readTo = await start();
    hasStarted = true;
    const head = await eventStore.head();
    for (;;) {
      const events = await eventStore.readAll({ after: readTo, prefixes, limit: PAGE });
      see(events);
      readTo = events.at(-1)?.position ?? readTo;
      if (events.length < PAGE) break;
    }
    if (head !== undefined && head > (readTo ?? "")) readTo = head;
  };
  const run = () => {
    running = search().finally(() => {
      running = undefined;
    });
    return running;
  };
  const afterRunning = () => {
    next = undefined;
    return running ?? run();
  };
  return async () => {
    if (running) next ??= running.then(afterRunning, afterRunning);
    await (next ?? run());
  };
}
