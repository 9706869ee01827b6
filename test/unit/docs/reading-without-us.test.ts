// The script of docs/events.md prints every event of an embedded log with `sqlite3` and `zstd` alone.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { sampleEvents } from "../../support/event-store/sample-events.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { onServer } from "../../support/servers/test-servers.ts";

const missing = ["sqlite3", "zstd"].filter((program) => spawnSync(program, ["--version"]).status !== 0);
const reason = missing.length === 0 ? undefined : `install ${missing.join(" and ")}`;

onServer({ name: "sqlite3 and zstd", reason }, () => {
  it("docs/events.md reads a log without us", async () => {
    const folder = await temporaryFolder();
    const store = await openSqliteEventStore(join(folder.path, "data", "events.db"));
    const [link, clicks] = [sampleEvents(2), sampleEvents(3)];
    await store.append("link-sho.rt/a", "none", link);
    await store.append("clicks-a-20260301", "none", clicks);
    const page = readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8");
    const [, script = ""] = /^## Reading the log without us$[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(page) ?? [];
    const printed = execFileSync("sh", ["-c", script], { cwd: folder.path, encoding: "utf8" });
    await store.close();
    const lines = printed.trimEnd().split("\n");
    expect(
      lines.filter((line) => line.startsWith("#")).map((line) => line.split(" ").slice(0, 3).join(" ")),
    ).toEqual(["# 2 link-sho.rt/a", "# 5 clicks-a-20260301"]);
    expect(lines.filter((line) => !line.startsWith("#")).map((line) => JSON.parse(line))).toEqual([
      link,
      clicks,
    ]);
    await folder.remove();
  });
});
