// Every statement that a service prepares for its SQLite files while pages, lists, numbers and searches are asked for and its
// jobs run: none reads a table without an index, or sorts what has no bound. Documents on MongoDB have the same indexes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN } from "../support/portal/operator.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { send } from "../support/service/ask.ts";
import { askForEverything } from "../support/service/ask-for-everything.ts";
import { commandProcess } from "../support/service/command-line.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  startService,
} from "../support/service/service-process.ts";

/** Statements that read a whole table in good order, and why. */
const READ_WHOLE: readonly [RegExp, string][] = [
  [/ FROM (checkpoints|dictionaries|routed)\b/, "a few rows"],
  [/ FROM sqlite_schema\b/, "a row a table or index"],
  [/SELECT count\(\*\) AS n FROM "docs_[\w-]+"$/, "a build that has been completed is counted once"],
  [/ OVER \(/, "audit verify reads the whole log"],
  [/FROM waiting/, "a loose scan: a step a webhook"],
  [/AS counted FROM deliveries WHERE state = 'pending'/, "the backlog of deliveries, by its index alone"],
  [/json_each\(list\) GROUP BY value/, "the tags of one account, by an index that has them"],
  [/"docs_click-hours" WHERE json_extract\(fields, '\$\.hour'\) >= \?/, "a row an hour of the range"],
];

let folder: TemporaryFolder;
let instance: Environment;
let recorded: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  recorded = join(folder.path, "queries");
  instance = await instanceOf(join(folder.path, "data"), {
    ...{ SIGN_UP: "open", ADMIN_TOKEN, RECORD_QUERIES_TO: recorded },
  });
});
afterAll(() => folder.remove());

it("use an index, and sort nothing without a bound", { timeout: 180_000 }, async () => {
  const { accountId, keys } = await accountWithKeys(instance, "developer", 1);
  const service = await startService({
    ...instance,
    NODE_OPTIONS: "--import=./test/support/runtime/record-queries.ts",
  });
  const commands = commandProcess(instance.DATA_DIR as string, { ...instance });
  try {
    const port = Number(instance.PORT);
    const made = await askForEverything(port, { accountId, key: keys[0] as string });
    const url = "https://hooks.example.com/";
    await commands.linkledger(["webhook", "add", "--account", accountId, "--url", url]);
    for (const args of [
      ...[[], ["--state", "failed"]].flatMap((state) =>
        [[], ["--event", "link.clicked"]].map((event) => ["webhook", "deliveries", url, ...state, ...event]),
      ),
      ["projections", "rebuild"],
      ["projections", "verify"],
      ["audit", "verify"],
      ["account", "show", accountId],
      ["export", "links", "--account", accountId],
      ["clicks", "withdraw", `localhost:${port}/${made[0]}`, "--from", "2026-01-01", "--reason", "test"],
    ])
      await commands.linkledger(args);
    const { text } = await send(port, "/metrics", { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(text).toContain("linkledger_");
    await until("the jobs that look for links and domains", () =>
      statements(recorded).some(([, sql]) => sql.includes("hasDueLimit")),
    );
  } finally {
    await service.stop();
  }
  const found = statements(recorded);
  expect(found.length).toBeGreaterThan(150);
  expect(found.filter(([, sql]) => /FROM deliveries\s+WHERE.*event = :event/.test(sql))).toHaveLength(2);
  expect(unindexed(found, instance.DATA_DIR as string)).toEqual([]);
});

function statements(file: string): [database: string, sql: string][] {
  return [...new Set(readFileSync(file, "utf8").trim().split("\n"))].map((line) => JSON.parse(line));
}

/** What SQLite says it would do; without statistics that is the same for a large file as for a small one. */
function unindexed(found: readonly [database: string, sql: string][], dataDir: string): string[] {
  return found.flatMap(([name, sql]) => {
    if (!name.endsWith(".db") || READ_WHOLE.some(([pattern]) => pattern.test(sql))) return [];
    const db = new DatabaseSync(join(dataDir, name));
    try {
      const plan = db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail));
      // In the order of an index, and without a condition: each row that is read is one of the page.
      const isPage = /ORDER BY .* LIMIT \? \+ 0$/.test(sql) && !sql.includes(" WHERE ");
      const isBad = (step: string) =>
        step.includes("TEMP B-TREE") ||
        (/^SCAN (?!.*VIRTUAL TABLE|CONSTANT)/.test(step) && !(isPage && step.includes("USING")));
      return plan.some(isBad) ? [`${name}: ${sql} (${plan.join("; ")})`] : [];
    } catch (error) {
      // Of a build that was dropped since.
      if (String(error).includes("no such table")) return [];
      throw error;
    } finally {
      db.close();
    }
  });
}
