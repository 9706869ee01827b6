// Reads that the log's thread runs in one snapshot: one that fails is not the others' failure.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { archiveBefore, archiveIn, EVER } from "../../support/event-store/archived-event-store.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const event = (n: number) => ({
  id: `01890000-0000-7000-8000-00000000000${n}`,
  type: "Counted",
  data: { n },
  metadata: { schemaVersion: 1, correlationId: "c", causationId: "c", actor: { type: "operator" as const } },
});

it("answers the other reads of a message when one needs an archive file that is gone", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  await mkdir(folder.path, { recursive: true });
  const store = await openSqliteEventStore(join(folder.path, "events.db"), { offThread: true });
  onTestFinished(() => store.close());
  await store.append("clicks-a", "none", [event(1)]);
  await store.append("link-a", "none", [event(2)]);
  const archive = archiveIn(folder.path);
  await archiveBefore(archive, EVER);
  archive.close();
  const archives = (await readdir(folder.path, { recursive: true })).filter((name) => /archive/.test(name));
  expect(archives).not.toEqual([]);
  for (const name of archives) await rm(join(folder.path, name), { recursive: true, force: true });
  const answers = await Promise.allSettled(["link-a", "clicks-a", "link-b"].map((name) => store.read(name)));
  expect(answers).toMatchObject([
    { status: "fulfilled", value: [{ data: { n: 2 } }] },
    { status: "rejected" },
    { status: "fulfilled", value: [] },
  ]);
});
