// Which packages a program and its threads load, reported by report-packages.mjs.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PRELOADED = fileURLToPath(new URL("report-packages.mjs", import.meta.url));

/** `environment`: of a program. `packages`: by thread so far; of the main thread as `main`. */
export function packageReport(folder: string) {
  const file = join(folder, "packages");
  return {
    // In NODE_OPTIONS, as threads start without the process's arguments.
    environment: { NODE_OPTIONS: `--import ${PRELOADED}`, REPORT_PACKAGES_TO: file },
    async packages(): Promise<Map<string, string[]>> {
      const byThread = new Map<string, string[]>();
      for (const line of (await readFile(file, "utf8")).trimEnd().split("\n")) {
        const [thread = "", name = ""] = line.split(" ");
        byThread.set(thread, [...(byThread.get(thread) ?? []), name]);
      }
      return byThread;
    },
  };
}
