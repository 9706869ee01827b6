// CPU time and memory of a process with all its threads. Linux only: elsewhere every figure is NaN.
import { readFileSync } from "node:fs";

const TICKS_A_SECOND = 100;

/** Seconds of CPU so far, which vary less than rates on a machine with other work. */
export function cpuSeconds(pid: number): number {
  const fields = read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** The most memory that the process has had so far. */
export function peakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN) / 1024;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
