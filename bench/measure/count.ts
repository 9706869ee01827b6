// Counts events in the log, and clicks and links in the documents, to compare them with what was answered.
import type { Backend } from "../../src/backend.ts";
import type { StoredEvent } from "../../src/events/catalogue.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { type LinkClicksDocument, linkClicks } from "../../src/projections/definitions/link-clicks.ts";
import { links } from "../../src/projections/definitions/links.ts";

const PAGE = 5000;

export async function clicksInLog(backend: Pick<Backend, "eventStore">): Promise<number> {
  return await eventsInLog(backend, CATEGORY.clicks, "LinkClicked");
}

export async function linksInLog(backend: Pick<Backend, "eventStore">): Promise<number> {
  return await eventsInLog(backend, CATEGORY.link, "LinkCreated");
}

export async function linksInDocuments({ readStore }: Pick<Backend, "readStore">): Promise<number> {
  return await readStore.count(links.collection.name, {});
}

/** The sum of all links' totals. */
export async function clicksInTotals({ readStore }: Pick<Backend, "readStore">): Promise<number> {
  const collection = linkClicks.collection.name;
  let sum = 0;
  let after: { value: string; id: string } | undefined;
  for (;;) {
    const query = { limit: PAGE, ...(after ? { after } : {}) };
    const page = await readStore.find<LinkClicksDocument>(collection, query);
    sum += page.reduce((total, { totalClicks }) => total + totalClicks, 0);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return sum;
    after = { value: last._id, id: last._id };
  }
}

async function eventsInLog(
  { eventStore }: Pick<Backend, "eventStore">,
  category: string,
  wanted: StoredEvent["type"],
): Promise<number> {
  let count = 0;
  let after: string | undefined;
  for (;;) {
    const events = await eventStore.readAll({ categories: [category], after, limit: PAGE });
    count += events.filter(({ type }) => type === wanted).length;
    if (events.length < PAGE) return count;
    after = events.at(-1)?.position;
  }
}
