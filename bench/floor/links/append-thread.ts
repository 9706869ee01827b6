// The bare creator's second thread: appends all events that have come in one transaction, each to a stream of its own.
import { appendMessages, folder } from "../thread-loops.ts";
import { openBareEvents } from "./bare-events.ts";

const log = openBareEvents(folder);

appendMessages((messages) => {
  const events = messages.flat();
  log.append(events);
  return events.length / 2;
});
