// Whether everything that was answered is in the log and in the documents exactly once.

import { CATEGORY } from "../../src/events/streams.ts";
import { type LinkTotalsDocument, linkTotals } from "../../src/projections/definitions/link-totals.ts";
import { links } from "../../src/projections/definitions/links.ts";
import { projectionGroups } from "../../src/projections/groups.ts";
import type { Backend } from "../../src/service/stores/backend.ts";
import { allDocuments } from "../../src/stores/read-store/document-pages.ts";
import { loggedEvents } from "../../test/support/event-store/logged-events.ts";
import { until } from "../../test/support/runtime/until.ts";
import type { LoadResult } from "../load/load.ts";

const PATIENCE = { withinMs: 300_000, everyMs: 50 };
const QUIET_MS = 1_000;
const PAGE = 5_000;

type Stores = Pick<Backend, "eventStore" | "readStore">;

/** Seconds until all events so far are folded; clicks may still be on their way to the log for a second. */
export async function secondsToCatchUp(stores: Stores): Promise<number> {
  const start = performance.now();
  let quietSince = start;
  await until(
    "the documents to hold every event",
    async () => {
      if (!(await isCaughtUp(stores))) quietSince = performance.now();
      return performance.now() - quietSince >= QUIET_MS;
    },
    PATIENCE,
  );
  return Math.max(0, quietSince - start) / 1000;
}

async function isCaughtUp({ eventStore, readStore }: Stores): Promise<boolean> {
  for (const { name, categories } of projectionGroups) {
    const checkpoint = await readStore.checkpoint(name).catch(() => undefined);
    if (checkpoint?.more) return false;
    const after = checkpoint?.position;
    if ((await loggedEvents(eventStore, { after, categories, limit: 1 })).length > 0) return false;
  }
  return true;
}

/**
 * `runs`: all that were ever sent to the service at `url`; every answer is a click. What is missing is printed with what the
 * service itself has counted, by which it is found where it went.
 */
export async function allClicksCounted(
  stores: Stores,
  runs: readonly LoadResult[],
  url: string,
): Promise<boolean> {
  const answered = runs.reduce((sum, run) => sum + run.answered, 0);
  await secondsToCatchUp(stores);
  const documents = await allDocuments<LinkTotalsDocument>(stores.readStore, linkTotals.name, {
    limit: PAGE,
  });
  const inDocuments = documents.reduce((sum, { totalClicks }) => sum + totalClicks, 0);
  const inLog = await countEvents(stores, "clicks", "LinkClicked");
  const passed = judge({ answered, inLog, inDocuments }, runs);
  if (passed) return true;
  console.log(await countedByService(url));
  return false;
}

/** Its metrics of clicks and redirects, a line each. */
async function countedByService(url: string): Promise<string> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return metrics
    .split("\n")
    .filter((line) => /^linkledger_(clicks|redirects|journal)_/.test(line))
    .join("\n");
}

/** `created`: links that were answered, and those that were there before. */
export async function allLinksCounted(
  stores: Stores,
  created: number,
  runs: readonly LoadResult[],
): Promise<boolean> {
  const inDocuments = await stores.readStore.count(links.collection.name, {});
  const inLog = await countEvents(stores, "link", "LinkCreated");
  return judge({ answered: created, inLog, inDocuments }, runs);
}

function judge(found: Record<string, number>, runs: readonly LoadResult[]): boolean {
  const { answered, inLog, inDocuments } = found;
  const failed = runs.reduce((sum, { other, errors }) => sum + other + errors, 0);
  const passed = failed === 0 && answered === inLog && answered === inDocuments;
  const verdict = passed ? "nothing lost, nothing doubled" : `MISMATCH, and ${failed} answered otherwise`;
  console.log(`answered ${answered}, in the log ${inLog}, in documents ${inDocuments}: ${verdict}`);
  return passed;
}

async function countEvents({ eventStore }: Stores, category: keyof typeof CATEGORY, type: string) {
  let count = 0;
  let after: string | undefined;
  for (;;) {
    const events = await loggedEvents(eventStore, { categories: [CATEGORY[category]], after, limit: PAGE });
    count += events.filter((event) => event.type === type).length;
    const spoilt = events.find(({ unreadable }) => unreadable !== undefined);
    if (spoilt) console.log(`unreadable: ${spoilt.position}: ${spoilt.unreadable}`);
    if (events.length < PAGE) return count;
    after = events.at(-1)?.position;
  }
}
