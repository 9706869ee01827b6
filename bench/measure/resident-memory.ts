// Samples the resident memory of a process while something runs. Linux only: elsewhere every figure is NaN.
import { readFileSync } from "node:fs";
import { processTree } from "./process-tree.ts";

/** The result of `work`, and the process's resident memory in MB, sampled every second. */
export async function sampleMemory<T>(pid: number, work: () => Promise<T>): Promise<[T, number[]]> {
  const rssMb: number[] = [];
  const sampling = setInterval(() => rssMb.push(residentMb(pid)), 1_000);
  const result = await work().finally(() => clearInterval(sampling));
  return [result, rssMb];
}

/** With its children; what they share counts for each. */
export function residentMb(pid: number): number {
  return processTree(pid).reduce((sum, one) => sum + fieldMb(one, "VmRSS"), 0);
}

/** The most that the process has had so far. */
export function peakMb(pid: number): number {
  return fieldMb(pid, "VmHWM");
}

function fieldMb(pid: number, field: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024;
  } catch {
    return Number.NaN;
  }
}
