// CPU time of a process by thread, which varies less than rates on a machine with other load. Linux only.
import { readdirSync, readFileSync } from "node:fs";

/** Seconds of CPU by thread name; threads of one name are summed, and empty where there is no /proc. */
export type ThreadCpu = ReadonlyMap<string, number>;

const TICKS_A_SECOND = 100;

export function threadCpu(pid: number): ThreadCpu {
  const seconds = new Map<string, number>();
  for (const stat of threadStats(pid)) {
    const [, name = "", state = ""] = /^\d+ \((.*)\) (.*)$/.exec(stat) ?? [];
    const fields = state.split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    seconds.set(name, (seconds.get(name) ?? 0) + ticks / TICKS_A_SECOND);
  }
  return seconds;
}

/** One line with microseconds for each of `count`, by thread in descending order. */
export function cpuLine(before: ThreadCpu, after: ThreadCpu, count: number, what = "redirect"): string {
  const spent = [...after].map(([name, seconds]) => ({
    name,
    micros: ((seconds - (before.get(name) ?? 0)) * 1e6) / count,
  }));
  const all = spent.reduce((sum, { micros }) => sum + micros, 0);
  const parts = spent
    .filter(({ micros }) => micros >= 0.5)
    .sort((a, b) => b.micros - a.micros)
    .map(({ name, micros }) => `${name} ${micros.toFixed(1)}`);
  return `${all.toFixed(1)} µs of CPU a ${what}: ${parts.join(", ")}`;
}

function threadStats(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").trimEnd(),
    );
  } catch {
    return [];
  }
}
