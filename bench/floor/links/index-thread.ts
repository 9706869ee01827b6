// The bare creator's third thread: reads the log, and writes a link's two documents every 100 ms.
import { folder, keepReading, reportCommitted } from "../thread-loops.ts";
import { openBareEvents } from "./bare-events.ts";
import { LINKS_A_COMMIT, openBareIndex } from "./bare-index.ts";

/** Of our own projector for links. */
const COMMIT_EVERY_MS = 100;

const log = openBareEvents(folder);
const index = openBareIndex(folder);
let position = 0;
keepReading(indexNew, COMMIT_EVERY_MS);

function indexNew(): boolean {
  const events = log.read(position, LINKS_A_COMMIT);
  if (events.length > 0) {
    index.add(events);
    position = events.at(-1)?.position ?? position;
    reportCommitted(events.length);
  }
  return events.length === LINKS_A_COMMIT;
}
