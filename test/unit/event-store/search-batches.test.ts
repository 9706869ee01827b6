// A search of the SQLite log for a text answers from time to time, also where nothing has it, and misses nothing.
import { expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { sampleEvent } from "../../support/event-store/sample-events.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const BATCHES = 130;
const BATCH = 1_000;

it("ends before the last batch with an event behind which the next search continues", {
  timeout: 60_000,
}, async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(`${folder.path}/events.db`);
  try {
    let expected: "none" | number = "none";
    for (let n = 0; n < BATCHES; n++) {
      const events = Array.from({ length: BATCH }, (_, i) => {
        const link = n % 60 === 59 && i === 500 ? "wanted" : "other";
        return sampleEvent({ link });
      });
      expected = (await store.append("clicks-a-1", expected, events)).revision;
      // A row of its own, which a search must not pass over either.
      if (n === 80) await store.append("clicks-b-1", "any", [sampleEvent({ link: "wanted" })]);
    }
    const pages: string[][] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.readAll({ after, categories: ["clicks"], limit: 5_000, mentions: "wanted" });
      if (page.length === 0) break;
      after = page.at(-1)?.position;
      pages.push(
        page.filter(({ data }) => (data as { link: string }).link === "wanted").map(({ stream }) => stream),
      );
    }
    expect(pages).toEqual([["clicks-a-1", "clicks-b-1"], ["clicks-a-1"]]);
  } finally {
    await store.close();
    await folder.remove();
  }
});
