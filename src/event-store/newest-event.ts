// Asking again and again for the last event of some streams: each stretch of the log is searched once.
import type { EventStore, Position } from "./port.ts";

const PAGE = 1_000;

/**
 * Answers the position of the last event there is when it is asked, of streams with one of the prefixes, or undefined
 * when there is none after `since`, which counts at the first call. Who asks while another search is under way shares
 * the next one: strangers must not be able to make a store search the same again for each of them.
 */
export function newestEventFinder(
  eventStore: Pick<EventStore, "head" | "readAll">,
  prefixes: readonly string[],
): (since: Position | undefined) => Promise<Position | undefined> {
  let searchedTo: Position | undefined;
  let newest: Position | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const search = async () => {
    const head = await eventStore.head();
    for (;;) {
      const events = await eventStore.readAll({ after: searchedTo, prefixes, limit: PAGE });
      const last = events.at(-1);
      if (last) searchedTo = newest = last.position;
      if (events.length < PAGE) break;
    }
    if (head !== undefined && head > (searchedTo ?? "")) searchedTo = head;
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
  return async (since) => {
    searchedTo ??= since;
    if (running) next ??= running.then(afterRunning, afterRunning);
    await (next ?? run());
    return newest;
  };
}
