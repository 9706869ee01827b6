// The part of `npm run bench floor` that is a rebuild: links and clicks of a log folded anew by one thread.
import { type Report, whole } from "../report/report.ts";
import { benchSlug, benchUrl } from "../traffic/requests.ts";
import { openBareCounts } from "./clicks/bare-counts.ts";
import { openBareLog } from "./clicks/bare-log.ts";
import { linkCreated, newLink, openBareEvents } from "./links/bare-events.ts";
import { LINKS_A_COMMIT, openBareIndex } from "./links/bare-index.ts";

const BATCHES = 500;

/** `events`: those of the links and so many clicks that together they are as many; all clicks of the log when absent. */
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
  const after = (position: number) => log.read(position, LINKS_A_COMMIT);
  for (let page = after(0); page.length > 0; page = after(page.at(-1)?.position ?? 0)) index.add(page);
  index.close();
  log.close();
}

function countClicks(folder: string, most: number): number {
  const log = openBareLog(folder);
  const counts = openBareCounts(folder, { name: "recounted.db", kept: 0 });
  const after = (position: number) => log.read(position, BATCHES);
  let clicks = 0;
  for (let page = after(0); page.length > 0 && clicks < most; page = after(page.at(-1)?.position ?? 0)) {
    const counted = page.flatMap((batch) => batch.clicks).slice(0, most - clicks);
    for (const click of counted) counts.count(click);
    clicks += counted.length;
  }
  counts.commit();
  log.close();
  counts.close();
  return clicks;
}
