// Reads that the log's thread runs in one snapshot: one that fails is not the others' failure.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const event = (n: number) => ({
  id: `01890000-0000-7000-8000-0000000000${n}`,
  type: "Counted",
  data: { n },
  metadata: { schemaVersion: 1, correlationId: "c", causationId: "c", actor: { type: "operator" as const } },
});

it("answers the other reads of a message when one meets a batch that can't be read", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  await mkdir(folder.path, { recursive: true });
  const file = join(folder.path, "events.db");
  const store = await openSqliteEventStore(file, { offThread: true });
  onTestFinished(() => store.close());
  await store.append(
    "clicks-a",
    "none",
    Array.from({ length: 40 }, (_, n) => event(n + 10)),
  );
  await store.append("link-a", "none", [event(50)]);
  const db = new DatabaseSync(file);
  db.exec("UPDATE segments SET body = x'00'");
  db.close();
  const answers = await Promise.allSettled(["link-a", "clicks-a", "link-b"].map((name) => store.read(name)));
  expect(answers).toMatchObject([
    { status: "fulfilled", value: [{ data: { n: 50 } }] },
    { status: "rejected" },
    { status: "fulfilled", value: [] },
  ]);
});
