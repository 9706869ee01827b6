// CPU time of a process and its children by thread, which varies less than rates on a machine with other load. Linux only.
import { readdirSync, readFileSync } from "node:fs";
import { processTree } from "./process-tree.ts";

/** Seconds of CPU by thread name; threads of one name are summed, and empty where there is no /proc. */
export type ThreadCpu = ReadonlyMap<string, number>;

const TICKS_A_SECOND = 100;
/** The name under which threads that have ended are counted. */
const ENDED = "ended threads";

export function threadCpu(pid: number): ThreadCpu {
  const seconds = new Map<string, number>();
  const add = (name: string, more: number) => seconds.set(name, (seconds.get(name) ?? 0) + more);
  for (const one of processTree(pid)) {
    const threads = threadStats(one).map(parse);
    for (const { name, spent } of threads) add(name, spent);
    const [process] = stats([`/proc/${one}/stat`]).map(parse);
    // Read last, so never less than the sum of its threads.
    if (process) add(ENDED, process.spent - threads.reduce((sum, { spent }) => sum + spent, 0));
  }
  return seconds;
}

/** Microseconds for each of `count`, all threads, and by thread in descending order. */
export type CpuEach = { all: number; threads: { name: string; micros: number }[] };

export function cpuEach(before: ThreadCpu, after: ThreadCpu, count: number): CpuEach {
  const spent = [...after].map(([name, seconds]) => ({
    name,
    micros: ((seconds - (before.get(name) ?? 0)) * 1e6) / count,
  }));
  const threads = spent.filter(({ micros }) => micros >= 0.05).sort((a, b) => b.micros - a.micros);
  return { all: spent.reduce((sum, { micros }) => sum + micros, 0), threads };
}

/** One line, without threads that took next to nothing. */
export function cpuLine({ all, threads }: CpuEach, what: string): string {
  const parts = threads
    .filter(({ micros }) => micros >= 0.5)
    .map(({ name, micros }) => `${name} ${micros.toFixed(1)}`);
  return `${all.toFixed(1)} µs of CPU a ${what}: ${parts.join(", ")}`;
}

function threadStats(pid: number): string[] {
  try {
    return stats(readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/stat`));
  } catch {
    return [];
  }
}

/** Without those of threads that have just ended. */
function stats(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    try {
      return [readFileSync(file, "utf8").trimEnd()];
    } catch {
      return [];
    }
  });
}

function parse(stat: string): { name: string; spent: number } {
  const [, name = "", state = ""] = /^\d+ \((.*)\) (.*)$/.exec(stat) ?? [];
  const fields = state.split(" ");
  return { name, spent: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND };
}
