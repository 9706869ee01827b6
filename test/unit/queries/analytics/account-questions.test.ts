// What is refused of questions about an account's clicks, and visitors of several days.
import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { clickTables } from "../../../../src/projections/definitions/click-tables/chunk.ts";
import { ChunkBuilder } from "../../../../src/projections/definitions/click-tables/chunk-builder.ts";
import { clicks as clickGroup } from "../../../../src/projections/groups.ts";
import { GROUPS } from "../../../../src/queries/analytics/question.ts";
import { ACCOUNT, linkClicked, OTHER_ACCOUNT, position } from "../../../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../../../support/projections/account-questions.ts";
import { foldGroups } from "../../../support/projections/fold-groups.ts";
import { stretched } from "../../../support/runtime/slowness.ts";
import { append, openStores, putCheckpoint, putDocuments } from "../../../support/runtime/stores.ts";

const NOW = new Date("2026-03-02T00:00:00.000Z");

it("refuses to count more rows than is bounded, of the account's own", async () => {
  const stores = await openStores();
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
  await stores.close();
});

it("lets its thread take messages while it counts, and ends when nobody waits for the answer", async () => {
  const stores = await openStores();
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
  await stores.close();
});

it("counts each visitor once a day, however many they are", async () => {
  const stores = await openStores();
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
  await stores.close();
});
