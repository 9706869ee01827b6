// The contract of counts on SQLite and in memory; and that those in the file outlive the process, and have bounded room.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { rateLimits } from "../../src/limits/rate-limit.ts";
import { CoordinationUnavailable } from "../../src/stores/connections/errors.ts";
import { openSqliteCounts } from "../../src/stores/counts/counts.sqlite.ts";
import { ownCounts } from "../../src/stores/counts/own-counts.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { countsContract } from "./counts.ts";

const hide = (name: string) => `hidden ${name}`;

countsContract("in memory", async () => {
  const counts = ownCounts();
  return { counts, others: counts, close: async () => undefined };
});

countsContract("SQLite", async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "limits.db");
  const [counts, others] = [openSqliteCounts(file, hide), openSqliteCounts(file, hide)];
  const close = async () => {
    await counts.close();
    await others.close();
    await folder.remove();
  };
  return { counts, others, close };
});

it("counts in a file go on where they were when it is opened again, and make room when they have ended", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "limits.db");
  const at = (hours: number) => new Date(hours * 3_600_000);
  for (let used = 1; used <= 3; used++) {
    const counts = openSqliteCounts(file, hide);
    expect(await rateLimits(counts).take("key a", 3, at(0))).toMatchObject({ granted: true, used });
    await counts.close();
  }
  const counts = openSqliteCounts(file, hide);
  onTestFinished(() => counts.close());
  const limits = rateLimits(counts);
  expect((await limits.take("key a", 3, at(0))).granted).toBe(false);
  for (let n = 0; n < 100; n++) await limits.take(`address ${n}`, 3, at(0));
  for (let n = 0; n < 30; n++) await limits.take(`address again ${n}`, 3, at(2));
  // An earlier clock shows what is still there of the first hour.
  expect(await limits.take("address 5", 3, at(0), 0)).toMatchObject({ used: 0 });
  expect(await limits.take("address again 29", 3, at(2), 0)).toMatchObject({ used: 1 });
});

it("a file that another process has locked counts as unavailable at once, and goes on afterwards", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "limits.db");
  const counts = openSqliteCounts(file, hide);
  onTestFinished(() => counts.close());
  const count = () => counts.count("key a", 0, { add: 1, most: 3, lastsMs: 1_000, atLeast: 0 });
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const started = performance.now();
  await expect(Promise.all([count(), count()])).rejects.toThrow(CoordinationUnavailable);
  expect(performance.now() - started).toBeLessThan(2_000);
  other.exec("ROLLBACK");
  expect(await count()).toMatchObject({ granted: true, used: 1 });
});
