// Keeps the results of a benchmark as one JSON document, in bench/results/ when asked for.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "../options.ts";
import type { Machine } from "./machine.ts";
import type { Report } from "./report.ts";

const FOLDER = fileURLToPath(new URL("../results", import.meta.url));

/** What a benchmark found: `passed` says whether everything was counted once and every limit kept. */
export type Outcome = { passed: boolean; measured: Record<string, unknown> };

export type Benchmark = (options: Options, report: Report) => Promise<Outcome>;

export type Result = Outcome & {
  benchmark: string;
  at: string;
  machine: Machine;
  options: Record<string, unknown>;
};

/** Returns the name of the new file. */
export function saveResult(result: Result): string {
  mkdirSync(FOLDER, { recursive: true });
  const file = `${result.at.replace(/[:.]/g, "-")}-${result.benchmark}.json`;
  writeFileSync(join(FOLDER, file), `${JSON.stringify(result, null, 2)}\n`);
  return `bench/results/${file}`;
}
