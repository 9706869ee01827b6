// A stop on a full disk: how many clicks are lost with the process is said in the log by the next one.
import { expect, it, onTestFinished } from "vitest";
import { CATEGORY } from "../../src/events/streams.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { smallDisk } from "../support/runtime/small-disk.ts";
import { until } from "../support/runtime/until.ts";
import { send } from "../support/service/ask.ts";
import { accountWithKeys, instanceOf, startService } from "../support/service/service-process.ts";

it("counts the clicks that a stop on a full disk loses", { timeout: 120_000 }, async () => {
  const disk = await smallDisk();
  onTestFinished(() => disk.remove());
  const instance = await instanceOf(disk.path, { STOP_SECONDS: "3" });
  const port = Number(instance.PORT);
  const { keys } = await accountWithKeys(instance, "free", 1);
  const first = await startService(instance);
  const slug = await first.shorten(keys[0]);
  const visit = async (times: number) => {
    for (let n = 0; n < times; n++) expect((await send(port, `/${slug}`, {})).status).toBe(301);
  };
  await visit(7);
  const metric = async (name: string) =>
    (await send(port, "/metrics", {})).text.includes(`\nlinkledger_${name} 0\n`);
  await until("the first clicks to be stored", () => metric("clicks_unstored"));
  disk.fill();
  await visit(23);
  await first.stop();
  disk.free();
  const second = await startService(instance);
  const lost = async () => {
    const store = await openSqliteEventStore(`${disk.path}/events.db`, { readOnly: true });
    const events = await loggedEvents(store, { categories: [CATEGORY.gaps], limit: 10 });
    await store.close();
    return events.reduce((sum, { data }) => sum + (data as { hits: number }).hits, 0);
  };
  await until("the log to say it", async () => (await lost()) > 0);
  expect(await lost()).toBe(23);
  await visit(2);
  await second.stop();
});
