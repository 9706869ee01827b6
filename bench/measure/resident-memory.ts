// Samples the resident memory of a process while something runs. Linux only.
import { readFile } from "node:fs/promises";

/** The result of `work`, and the process's resident memory in MB, sampled every second. */
export async function sampleMemory<T>(pid: number, work: () => Promise<T>): Promise<[T, number[]]> {
  const rssMb: number[] = [];
  const sampling = setInterval(async () => rssMb.push(await residentMb(pid)), 1_000);
  const result = await work().finally(() => clearInterval(sampling));
  return [result, rssMb];
}

/** NaN where there is no /proc. */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
