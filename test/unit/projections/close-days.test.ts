// The days of many links are closed in small steps, and no number changes while they are.
import { expect, it } from "vitest";
import type { LinkClicked } from "../../../src/events/catalogue.ts";
import type { ChunkDocument } from "../../../src/projections/definitions/click-tables/chunk.ts";
import type { LinkLifeDocument } from "../../../src/projections/definitions/summaries/link-life.ts";
import { closeDays } from "../../../src/projections/fold/clicks/close-days.ts";
import { mergeChunks } from "../../../src/projections/fold/clicks/merge-chunks.ts";
import { clicks as clickGroup } from "../../../src/projections/groups.ts";
import { clickQuestions } from "../../../src/queries/analytics/click-questions.ts";
import type { CollectionWrite, Document, ReadStore } from "../../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked } from "../../support/event-store/stored-events.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { append, type Stores, storesOfTest } from "../../support/runtime/stores.ts";

const DAYS = ["2026-03-01", "2026-03-02"];
const NOW = Date.parse("2026-03-03T00:05:00.000Z");
const QUIET_LINKS = 4_000;
const BUSY_LINKS = 40;
const HITS_OF_BUSY = 60;
const HITS = DAYS.length * (QUIET_LINKS + BUSY_LINKS * HITS_OF_BUSY);
/** Bytes of documents that one step may read and write: some 10 ms. A chunk has at most 20,000 rows of some 75 bytes. */
const MOST_OF_A_STEP = 1_000_000;
/** Bytes. */
const MOST_OF_A_DOCUMENT = 16 * 1024 * 1024;

it("closes days of many links in small steps, between which each number is as before", async () => {
  const stores = await storesOfTest();
  for (const day of DAYS)
    await clicksOf(day).forEachBatch((batch) => append(stores.eventStore, `clicks-w0-${day}`, batch));
  await foldGroups({ ...stores, clock: () => new Date(`${DAYS[0]}T12:00:00.000Z`) }, [clickGroup]);
  const checkpoint = await stores.readStore.checkpoint(clickGroup.name);
  let bytes = 0;
  let largest = 0;
  const readStore = weighed(stores.readStore, (more) => {
    bytes += more;
    largest = Math.max(largest, bytes);
  });
  const ended = new Set<string>();
  const steps = closeDays({
    readStore,
    write: (documents: readonly CollectionWrite[]) => readStore.write({ documents }),
    asOf: checkpoint?.position ?? "",
    before: "2026-03-03",
    isBusy: () => false,
    onClosed: (id) => ended.add(id),
  });
  let count = 0;
  for await (const _ of steps) {
    if (count++ % 200 === 0) await expectNumbers(stores);
    bytes = 0;
  }
  await expectNumbers(stores);
  expect(largest).toBeLessThan(MOST_OF_A_STEP);
  expect(ended.size).toBe(DAYS.length);
  expect(await stores.readStore.count("open-days", {})).toBe(0);
  // Those with few hits have no document of the day.
  expect(await stores.readStore.count("link-days", {})).toBe(DAYS.length * BUSY_LINKS);
});

it("leaves a day open that gets a late click while others are closed", async () => {
  const stores = await storesOfTest();
  const [day = ""] = DAYS;
  const clock = () => new Date(`${day}T12:00:00.000Z`);
  const click = async (count: number) => {
    const clicks = Array.from({ length: count }, () =>
      linkClicked({ accountId: ACCOUNT, at: `${day}T01:00:00.000Z` }),
    );
    await append(stores.eventStore, `clicks-w0-${day}`, clicks);
    await foldGroups({ ...stores, clock }, [clickGroup]);
    return (await stores.readStore.checkpoint(clickGroup.name))?.position ?? "";
  };
  const close = async (asOf: string) => {
    const { readStore } = stores;
    const write = (documents: readonly CollectionWrite[]) => readStore.write({ documents });
    const over = { before: "2026-03-03", isBusy: () => false, onClosed: () => undefined };
    for await (const _ of closeDays({ readStore, write, asOf, ...over }));
  };
  const life = () => stores.readStore.get<LinkLifeDocument>("link-life", "sho.rt/abc");
  // More than the next commit writes again.
  const begun = await click(400);
  const late = await click(1);
  await close(begun);
  expect(await stores.readStore.count("open-days", {})).toBe(1);
  await close(late);
  expect(await stores.readStore.count("open-days", {})).toBe(0);
  expect((await life())?.click).toBe(401);
});

it("makes no chunk that a document of MongoDB can't hold, whatever strangers put into addresses", async () => {
  const stores = await storesOfTest();
  const [day = ""] = DAYS;
  const clock = () => new Date(`${day}T12:00:00.000Z`);
  for (let batch = 0; batch < 12; batch += 1) {
    const events = Array.from({ length: 600 }, (_, n) => {
      const text = (field: string) => `${field}${batch}-${n}`.padEnd(200, "\u8a9e");
      const utm = {
        source: text("s"),
        medium: text("m"),
        campaign: text("c"),
        term: text("t"),
        content: text("o"),
      };
      return linkClicked({ accountId: ACCOUNT, at: `${day}T01:00:00.000Z`, utm });
    });
    await append(stores.eventStore, `clicks-w0-${day}`, events);
    await foldGroups({ ...stores, clock }, [clickGroup]);
  }
  const { readStore } = stores;
  const write = (documents: readonly CollectionWrite[]) => readStore.write({ documents });
  const deps = { readStore, write };
  const before = await readStore.count("click-tables", {});
  for await (const _ of mergeChunks(deps, { accountId: ACCOUNT, day }));
  const chunks = await readStore.find<ChunkDocument>("click-tables", { limit: 100 });
  expect(chunks.length).toBeLessThan(before);
  expect(chunks.reduce((sum, { rows }) => sum + rows, 0)).toBe(12 * 600);
  for (const chunk of chunks)
    expect(Buffer.byteLength(JSON.stringify(chunk))).toBeLessThan(MOST_OF_A_DOCUMENT);
});

async function expectNumbers(stores: Stores): Promise<void> {
  const { answer, lifeOf } = clickQuestions(stores);
  const all = { filters: {}, kinds: ["click"] as const, zone: "UTC", interval: "day" as const, groupBy: [] };
  const of = {
    ...all,
    accountId: ACCOUNT,
    from: Date.parse(`${DAYS[0]}T00:00:00.000Z`),
    to: NOW,
    now: NOW,
    limit: 10,
  };
  expect((await answer(of)).totals.click).toBe(HITS);
  for (const [link, hits] of [
    ["sho.rt/q17", 1],
    ["sho.rt/b3", HITS_OF_BUSY],
  ] as const) {
    expect((await answer({ ...of, filters: { link: [link] } })).totals.click).toBe(DAYS.length * hits);
    const life = await lifeOf({ accountId: ACCOUNT, link, groupBy: ["country"], now: NOW });
    expect(life.totals.click).toBe(DAYS.length * hits);
    expect(life.recent).toHaveLength(Math.min(10, DAYS.length * hits));
  }
}

function clicksOf(day: string) {
  const links = [
    ...Array.from({ length: QUIET_LINKS }, (_, n) => `sho.rt/q${n}`),
    ...Array.from({ length: BUSY_LINKS * HITS_OF_BUSY }, (_, n) => `sho.rt/b${n % BUSY_LINKS}`),
  ];
  const events = links.map((link, n) => {
    const at = new Date(Date.parse(`${day}T00:00:00.000Z`) + n * 10_000).toISOString();
    const visitor = n.toString(16).padStart(16, "0");
    return linkClicked({ link, accountId: ACCOUNT, at, accountVisitor: visitor } as Partial<
      LinkClicked["data"]
    >);
  });
  return {
    async forEachBatch(work: (batch: typeof events) => Promise<unknown>) {
      for (let at = 0; at < events.length; at += 500) await work(events.slice(at, at + 500));
    },
  };
}

/** `onWork`: told of the bytes of what is read and written, as JSON. */
function weighed(
  readStore: ReadStore,
  onWork: (bytes: number) => void,
): Pick<ReadStore, "get" | "getMany" | "find" | "write"> {
  const told = <T>(found: T): T => {
    onWork(JSON.stringify(found)?.length ?? 0);
    return found;
  };
  return {
    get: async <D extends Document>(collection: string, id: string) =>
      told(await readStore.get<D>(collection, id)),
    getMany: async <D extends Document>(...args: Parameters<ReadStore["getMany"]>) =>
      told(await readStore.getMany<D>(...args)),
    find: async <D extends Document>(...args: Parameters<ReadStore["find"]>) =>
      told(await readStore.find<D>(...args)),
    write: async (batch) => {
      told(batch.documents.map(({ documents }) => documents));
      await readStore.write(batch);
    },
  };
}
