// What is refused of questions about an account's clicks, what they read, and visitors of hours and days.
import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { clickTables } from "../../../../src/projections/definitions/click-tables/chunk.ts";
import { ChunkBuilder } from "../../../../src/projections/definitions/click-tables/chunk-builder.ts";
import { decodeChunk } from "../../../../src/projections/definitions/click-tables/decode-chunk.ts";
import { rowsOfTable } from "../../../../src/projections/definitions/click-tables/table.ts";
import { accountDays } from "../../../../src/projections/definitions/summaries/account-day.ts";
import { sumAccount } from "../../../../src/projections/definitions/summaries/sum-account.ts";
import { clicks as clickGroup } from "../../../../src/projections/groups.ts";
import { clickQuestions } from "../../../../src/queries/analytics/click-questions.ts";
import { GROUPS } from "../../../../src/queries/analytics/question.ts";
import { ACCOUNT, linkClicked, OTHER_ACCOUNT, position } from "../../../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../../../support/projections/account-questions.ts";
import { foldGroups } from "../../../support/projections/fold-groups.ts";
import { stretched } from "../../../support/runtime/slowness.ts";
import { append, putCheckpoint, putDocuments, storesOfTest } from "../../../support/runtime/stores.ts";

const NOW = new Date("2026-03-02T00:00:00.000Z");

it("refuses to count more rows than is bounded, of the account's own", async () => {
  const stores = await storesOfTest();
  const theirs = Array.from({ length: 20 }, () =>
    linkClicked({ accountId: OTHER_ACCOUNT, link: "sho.rt/theirs" }),
  );
  const own = Array.from({ length: 11 }, (_, n) =>
    linkClicked({ at: `2026-03-0${n < 10 ? 1 : 2}T10:00:00.000Z` }),
  );
  await append(stores.eventStore, "clicks-w0-20260301", [...theirs, ...own]);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, new Date("2026-03-03T00:00:00.000Z"), 10);
  const question = { filters: { country: ["FR"] }, from: Date.parse("2026-03-01") };
  expect((await ask({ ...question, to: Date.parse("2026-03-02") })).totals.people).toBe(10);
  await expect(ask(question)).rejects.toMatchObject({
    code: "range_too_large",
    message: expect.stringContaining("later or shorter range"),
  });
});

it("answers a link's whole life, for which nobody can ask less, from any number of rows", async () => {
  const stores = await storesOfTest();
  const clicks = Array.from({ length: 11 }, () =>
    linkClicked({ link: "sho.rt/abc", at: "2026-03-01T10:00:00.000Z" }),
  );
  await append(stores.eventStore, "clicks-w0-20260301", clicks);
  await foldGroups({ ...stores, clock: () => new Date("2026-03-01T23:00:00.000Z") });
  const { lifeOf } = clickQuestions({ ...stores, mostRead: 10 });
  const life = { accountId: ACCOUNT, link: "sho.rt/abc", groupBy: [], now: NOW.getTime() };
  expect((await lifeOf(life)).totals.people).toBe(11);
});

it("lets its thread take messages while it counts, and ends when nobody waits for the answer", async () => {
  const stores = await storesOfTest();
  const chunks = Array.from({ length: 6 }, (_, chunk) => {
    const builder = new ChunkBuilder(ACCOUNT, "2026-03-01");
    for (let n = 0; n < 20_000; n++)
      builder.addClick(linkClicked({ city: `c${n % 300}` }).data, position(chunk * 20_000 + n + 1));
    return builder.document();
  });
  await putDocuments(stores.readStore, clickTables.name, chunks);
  await putCheckpoint(stores.readStore, clickGroup.name, { position: position(200_000), eventId: "e" });
  const ask = accountQuestionsOf(stores, NOW);
  const filters = { country: ["FR"] };
  let [turns, isDone] = [0, false];
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const started = performance.now();
  expect((await ask({ filters, groupBy: GROUPS })).totals.people).toBe(120_000);
  isDone = true;
  // Of 10 ms and of a chunk that is decoded after it.
  expect((performance.now() - started) / turns).toBeLessThan(stretched(60));
  const client = new AbortController();
  setImmediate(() => client.abort(new Error("gone")));
  const others = { ...filters, kind: ["click", "qr_scan"] };
  await expect(ask({ filters: others, groupBy: GROUPS }, client.signal)).rejects.toThrow("gone");
});

it("counts each visitor once a day, however many they are", async () => {
  const stores = await storesOfTest();
  const at = (day: number) => `2026-03-0${day}T10:00:00.000Z`;
  const clicks = (day: number, visitors: number) =>
    Array.from({ length: visitors }, (_, n) =>
      linkClicked({ at: at(day), accountVisitor: hash("sha256", `${day} ${n}`).slice(0, 16) }),
    );
  await append(stores.eventStore, "clicks-w0-20260301", [...clicks(1, 300), ...clicks(1, 300)]);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, new Date("2026-03-03T00:00:00.000Z"));
  expect((await ask({})).totals).toMatchObject({ people: 600, visitors: 300 });
  await append(stores.eventStore, "clicks-w0-20260302", clicks(2, 5_000));
  await foldGroups(stores);
  const { totals, series } = await ask({ interval: "day" });
  expect(totals.visitors).toBe(5_300);
  expect(series.reduce((sum, { visitors }) => sum + (visitors ?? 0), 0)).toBe(totals.visitors);
});

it("answers numbers of closed days without reading a row, unless they are filtered", async () => {
  const stores = await storesOfTest();
  const clicks = Array.from({ length: 1_230 }, (_, n) => {
    const at = new Date(Date.UTC(2026, 2, 1, n % 24, 30)).toISOString();
    return linkClicked({ link: `sho.rt/l${n % 1_200}`, at, accountVisitor: codeOf(n % 700) });
  });
  await append(stores.eventStore, "clicks-w0-20260301", clicks);
  await foldGroups(stores);
  const later = new Date("2026-03-03T00:00:00.000Z");
  const ask = accountQuestionsOf(stores, later, 0);
  const question = { groupBy: GROUPS.filter((field) => field !== "kind"), limit: 20 };
  const range = { from: Date.parse("2026-03-01T00:00:00+01:00"), compare: "previous" as const };
  for (const zone of ["UTC", "Europe/Berlin"]) {
    const { totals, groups } = await ask({ ...question, ...range, zone });
    expect(totals).toMatchObject({ people: 1_230, visitors: 700 });
    // Beyond the 500 links with most hits, others are counted together.
    expect(groups.link?.rows.map(({ people }) => people)).toEqual(Array(20).fill(2));
    expect(groups.link?.other?.people).toBe(1_190);
    expect(groups.hour?.rows[0]).toMatchObject({ people: 52, visitors: 52 });
  }
  await expect(ask({ ...question, limit: 1_000 })).rejects.toMatchObject({ code: "range_too_large" });
  const fromTables = await accountQuestionsOf(stores, later)({ groupBy: ["link"], limit: 1_000 });
  expect(fromTables.groups.link?.rows.filter(({ people }) => people === 2)).toHaveLength(30);
  expect(fromTables.groups.link?.other?.people).toBe(200);
  await expect(ask({ ...question, filters: { country: ["FR"] } })).rejects.toMatchObject({
    code: "range_too_large",
  });
});

it("counts a part of an hour of a closed day, or of a quarter of it", async () => {
  const stores = await storesOfTest();
  const clicks = Array.from({ length: 60 }, (_, n) =>
    linkClicked({ at: new Date(Date.UTC(2026, 2, 1, 10, n, 30)).toISOString(), accountVisitor: codeOf(n) }),
  );
  await append(stores.eventStore, "clicks-w0-20260301", clicks);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, new Date("2026-03-03T00:00:00.000Z"));
  for (const [from, to, count] of [
    [5, 55, 50],
    [2, 12, 10],
    [15, 30, 15],
    [0, 60, 60],
  ] as const) {
    const [first, end] = [Date.UTC(2026, 2, 1, 10, from), Date.UTC(2026, 2, 1, 10, to)];
    for (const interval of ["hour", "day"] as const) {
      const { totals, series, groups } = await ask({
        from: first,
        to: end,
        interval,
        groupBy: ["hour", "device"],
      });
      expect(totals).toMatchObject({ people: count, visitors: count });
      expect(series.map(({ people }) => people)).toEqual([count]);
      for (const group of Object.values(groups))
        expect(group.rows.map(({ people }) => people)).toEqual([count]);
    }
  }
});

it("counts the visitors of hours also where each comes in others", async () => {
  const stores = await storesOfTest();
  const builder = new ChunkBuilder(ACCOUNT, "2026-03-01");
  let rows = 0;
  for (let hours = 1; hours < 2 ** 12; hours++)
    for (let hour = 0; hour < 12; hour++)
      if (hours & (1 << hour)) {
        const at = new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
        builder.addClick(linkClicked({ at, accountVisitor: codeOf(hours) }).data, position(++rows));
      }
  const chunk = builder.document();
  const closing = sumAccount(chunk, rowsOfTable([decodeChunk(chunk)]));
  let step = closing.next();
  while (!step.done) step = closing.next();
  expect(step.value.hours).toEqual([]);
  await putDocuments(stores.readStore, clickTables.name, [chunk]);
  await putDocuments(stores.readStore, accountDays.name, [step.value]);
  await putCheckpoint(stores.readStore, clickGroup.name, { position: chunk.last, eventId: "e" });
  const { totals, groups } = await accountQuestionsOf(stores, NOW)({ groupBy: ["hour"], limit: 24 });
  expect(totals.visitors).toBe(2 ** 12 - 1);
  expect(groups.hour?.rows.map(({ visitors }) => visitors)).toEqual(Array(12).fill(2 ** 11));
});

function codeOf(visitor: number): string {
  return hash("sha256", String(visitor)).slice(0, 16);
}
