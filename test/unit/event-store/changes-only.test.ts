// With `changesOnly` SQLite leaves out the first event of each stream, so that a process isn't told of every new link.
import { expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { sampleEvent, sampleEvents } from "../../support/event-store/sample-events.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

it("leaves the first events of streams in the SQLite log out, when read and when followed", async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(`${folder.path}/events.db`);
  try {
    for (const stream of ["link-a", "link-b", "link-c"]) await store.append(stream, "none", sampleEvents(1));
    const { position } = await store.append("link-b", 0, [sampleEvent()]);
    const changes = { categories: ["account", "link"], changesOnly: true };
    const read = await store.readAll({ ...changes, limit: 100 });
    expect(read).toMatchObject([{ stream: "link-b", revision: 1, position }]);
    for await (const batch of store.subscribe({ ...changes, signal: AbortSignal.timeout(10_000) })) {
      expect(batch).toEqual(read);
      break;
    }
    expect.assertions(2);
  } finally {
    await store.close();
    await folder.remove();
  }
});
