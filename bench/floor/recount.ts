// The part of `npm run bench floor` that is a rebuild: links and clicks of a log folded anew by one thread.
import { type Report, whole } from "../report/report.ts";
import { benchSlug, benchUrl } from "../traffic/requests.ts";
import { openBareCounts } from "./clicks/bare-counts.ts";
import { openBareLog } from "./clicks/bare-log.ts";
import { linkCreated, newLink, openBareEvents } from "./links/bare-events.ts";
import { openBareIndex } from "./links/bare-index.ts";

const BATCHES = 500;
const LINKS_A_COMMIT = 5_000;

/** `events`: so many with those that made the links, at most all clicks of the log; these and the links when absent. */
type Recounted = { links: number; events: number | undefined };

/** Each link gets its two documents, clicks are counted in memory, and each document of theirs is written once. */
export function measureRecount(folder: string, { links, events }: Recounted, report: Report) {
  appendLinks(folder, links);
  const started = performance.now();
  indexLinks(folder);
  const clicks = countClicks(folder, events === undefined ? Number.POSITIVE_INFINITY : events - links);
  const seconds = (performance.now() - started) / 1_000;
  const perSecond = (links + clicks) / seconds;
  report.line(`folded anew: ${whole(links)} links and ${whole(clicks)} clicks, ${whole(perSecond)} events/s`);
  return { links, clicks, perSecond };
}

function appendLinks(folder: string, links: number): void {
  const log = openBareEvents(folder);
  const at = new Date().toISOString();
  const eventOf = (n: number) => linkCreated(newLink(benchSlug(n), benchUrl(n), "key", at));
  log.append(Array.from({ length: links }, (_, n) => [benchSlug(n), eventOf(n)]).flat());
  log.close();
}

function indexLinks(folder: string): void {
  const log = openBareEvents(folder);
  const index = openBareIndex(folder);
  let position = 0;
  for (let page = log.read(position, LINKS_A_COMMIT); page.length > 0; ) {
    index.add(page);
    position = page.at(-1)?.position ?? position;
    page = log.read(position, LINKS_A_COMMIT);
  }
  index.close();
  log.close();
}

function countClicks(folder: string, most: number): number {
  const log = openBareLog(folder);
  const counts = openBareCounts(folder, { name: "recounted.db", kept: 0 });
  let [position, clicks] = [0, 0];
  for (let batches = log.read(position, BATCHES); batches.length > 0 && clicks < most; ) {
    for (const batch of batches) {
      const counted = batch.clicks.slice(0, most - clicks);
      for (const click of counted) counts.count(click);
      clicks += counted.length;
    }
    position = batches.at(-1)?.position ?? position;
    batches = log.read(position, BATCHES);
  }
  counts.commit();
  log.close();
  counts.close();
  return clicks;
}
