// Reads that the log's thread runs in one snapshot: what one of them can't read is not the others' failure.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { sampleEvent, sampleEvents } from "../../support/event-store/sample-events.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

it("answers the other reads of a message when one meets an append that can't be read, and says of each event why", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "events.db");
  const store = await openSqliteEventStore(file, { offThread: true });
  onTestFinished(() => store.close());
  await store.append("clicks-a", "none", sampleEvents(40));
  await store.append("link-a", "none", [sampleEvent({ n: 50 })]);
  const db = new DatabaseSync(file);
  db.exec("UPDATE appends SET body = x'00' WHERE stream = 'clicks-a'");
  db.close();
  const [link, clicks, none] = await Promise.all(
    ["link-a", "clicks-a", "link-b"].map((name) => store.read(name)),
  );
  expect(link).toMatchObject([{ data: { n: 50 } }]);
  expect(clicks?.map(({ revision }) => revision)).toEqual([...Array(40).keys()]);
  for (const { data, unreadable } of clicks ?? []) {
    expect(data).toBeNull();
    expect(unreadable).toMatch(/^the body of the append can't be read: /);
  }
  expect(none).toEqual([]);
});
