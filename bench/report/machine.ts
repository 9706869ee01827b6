// The machine that a benchmark ran on, as figures of two machines can't be compared.
import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

export type Machine = {
  cpu: string;
  cores: number;
  memoryGb: number;
  node: string;
  platform: string;
  /** Of the checkout; with `+` when it has changes. */
  commit: string;
};

export function describeMachine(): Machine {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model ?? "unknown processor",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    commit: commit(),
  };
}

export function machineLine({ cpu, cores, memoryGb, node, commit }: Machine): string {
  return `Node ${node}, ${cores} x ${cpu}, ${memoryGb} GB, commit ${commit}`;
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      stdio: ["ignore", "pipe", "ignore"],
    })
      .toString()
      .trim();
  try {
    return git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : "+");
  } catch {
    return "unknown";
  }
}
