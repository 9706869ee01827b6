// A temporary data folder for the length of one benchmark.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Removes the folder when `work` has settled, or the process exits before. */
export async function withDataFolder<T>(work: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await work(dataDir);
  } finally {
    process.off("exit", remove);
    remove();
  }
}
