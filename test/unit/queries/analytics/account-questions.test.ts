// What is refused of questions about an account's clicks, and visitors beyond what is exact.
import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { clickHours } from "../../../../src/projections/definitions/click-hours.ts";
import { linkClicked } from "../../../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../../../support/projections/account-questions.ts";
import { foldGroups } from "../../../support/projections/fold-groups.ts";
import { stretched } from "../../../support/runtime/slowness.ts";
import { append, openStores, putDocuments } from "../../../support/runtime/stores.ts";

const NOW = new Date("2026-03-02T00:00:00.000Z");

it("refuses to read more of the log than is bounded, before it reads any", async () => {
  const stores = await openStores();
  await append(stores.eventStore, "clicks-w0-20260301", [linkClicked()]);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, NOW);
  const question = { filters: { country: ["FR"] }, from: Date.parse("2026-03-01") };
  expect((await ask(question)).totals.people).toBe(1);
  const hour = { _id: "2026-03-01T11", _position: "9", hour: "2026-03-01T11", clicks: 2_000_000 };
  await putDocuments(stores.readStore, clickHours.collection.name, [hour]);
  await expect(ask(question)).rejects.toMatchObject({
    code: "range_too_large",
    message: expect.stringContaining("later or shorter range"),
  });
  await stores.close();
});

it("lets an account wait for eight answers from the log at a time", async () => {
  const stores = await openStores();
  await append(stores.eventStore, "clicks-w0-20260301", [linkClicked()]);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, NOW);
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => ask({})));
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array(8).fill("fulfilled"),
    ...Array(2).fill("rejected"),
  ]);
  expect(answers.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "analytics_busy" },
  });
  expect((await ask({})).totals.people).toBe(1);
  await stores.close();
});

it("lets its thread take messages while it counts, and ends when nobody waits for the answer", async () => {
  const stores = await openStores();
  const clicks = Array.from({ length: 1_000 }, () => linkClicked());
  for (let n = 0; n < 12; n++) await append(stores.eventStore, "clicks-w0-20260301", clicks);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, NOW);
  const filters = { country: ["FR"] };
  let [turns, isDone] = [0, false];
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const started = performance.now();
  expect((await ask({ filters })).totals.people).toBe(12_000);
  isDone = true;
  // Of 10 ms and of what a page takes after it.
  expect((performance.now() - started) / turns).toBeLessThan(stretched(60));
  const client = new AbortController();
  setImmediate(() => client.abort(new Error("gone")));
  await expect(ask({ filters }, client.signal)).rejects.toThrow("gone");
  await stores.close();
});

it("counts visitors exactly up to 256 a day and kind, and beyond within four standard errors", async () => {
  const stores = await openStores();
  const at = (day: number) => `2026-03-0${day}T10:00:00.000Z`;
  const clicks = (day: number, visitors: number) =>
    Array.from({ length: visitors }, (_, n) =>
      linkClicked({ at: at(day), accountVisitor: hash("sha256", `${day} ${n}`).slice(0, 16) }),
    );
  await append(stores.eventStore, "clicks-w0-20260301", [...clicks(1, 256), ...clicks(1, 256)]);
  await foldGroups(stores);
  const ask = accountQuestionsOf(stores, new Date("2026-03-03T00:00:00.000Z"));
  expect((await ask({})).totals).toMatchObject({ people: 512, visitors: 256, visitorsEstimated: false });
  await append(stores.eventStore, "clicks-w0-20260302", clicks(2, 3_000));
  await foldGroups(stores);
  const { totals, series } = await ask({ interval: "day" });
  expect(totals.visitorsEstimated).toBe(true);
  expect(Math.abs((totals.visitors ?? 0) / 3_256 - 1)).toBeLessThan(0.1);
  expect(series.reduce((sum, { visitors }) => sum + (visitors ?? 0), 0)).toBe(totals.visitors);
  await stores.close();
});
