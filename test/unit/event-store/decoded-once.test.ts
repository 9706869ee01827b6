// The embedded log is decoded once for the readers of a thread that follow its end one behind the other.
import { expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { sampleEvents } from "../../support/event-store/sample-events.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const APPENDS = 40;
const EVENTS = 500;

it("gives a reader the very events that another one has read 20,000 events ago", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(`${folder.path}/events.db`);
  const page = async (after: string | undefined) =>
    await store.readAll({ after, categories: ["clicks"], limit: EVENTS });
  try {
    await store.append("clicks-a-1", "none", sampleEvents(EVENTS));
    for (let n = 1; n < APPENDS; n++) await store.append("clicks-a-1", n * EVENTS - 1, sampleEvents(EVENTS));
    const [first] = await page(undefined);
    let last = first?.position;
    for (let events = await page(last); events.length > 0; events = await page(last))
      last = events.at(-1)?.position;
    const [again] = await page(undefined);
    expect(again).toBe(first);
  } finally {
    await store.close();
    await folder.remove();
  }
});
