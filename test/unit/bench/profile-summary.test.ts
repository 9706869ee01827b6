// The names of threads in the summary of CPU profiles.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseOptions } from "../../../bench/options.ts";
import { summarizeProfiles } from "../../../bench/profile-summary.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const ROOT = new URL("../../..", import.meta.url).href;

function profileOf(files: readonly string[]): string {
  const nodes = ["node:internal/main/worker_thread", ...files.map((file) => `${ROOT}${file}`)].map(
    (url, id) => ({ id, callFrame: { functionName: "work", url, lineNumber: 0 } }),
  );
  return JSON.stringify({ nodes, samples: nodes.map(({ id }) => id), timeDeltas: nodes.map(() => 1_000) });
}

it("names each thread by the file that it starts with, not by what many of them load", async () => {
  const folder = await temporaryFolder();
  const serving = "src/runtime/threads/serve-thread.ts";
  const profiles = [
    [serving, "src/event-store/sqlite/thread.ts"],
    ["src/log-reader/log-reader-thread.ts", serving],
    [serving, "src/webhooks/queue/queue.sqlite-thread.ts"],
    ["src/redirect/clicks/start-recorder-thread.ts", "src/main.ts"],
    ["src/projections/runner/fold.ts"],
  ];
  for (const [n, files] of profiles.entries())
    await writeFile(join(folder.path, `${n}.cpuprofile`), profileOf(files));
  const { options } = parseOptions(["--profile", folder.path]);
  const { measured } = await summarizeProfiles(options, { line: () => undefined, table: () => undefined });
  const names = (measured.threads as { thread: string }[]).map(({ thread }) => thread);
  expect(names.sort()).toEqual([
    "a thread",
    "event-store/sqlite/thread.ts",
    "log-reader/log-reader-thread.ts",
    "main thread",
    "webhooks/queue/queue.sqlite-thread.ts",
  ]);
  await folder.remove();
});
