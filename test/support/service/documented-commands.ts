// The command lines that a document shows, in its blocks of shell, as they stand there.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Blocks of shell, in their order. `section`: only those below this heading. */
export function shellOf(document: string, section?: string): string {
  const text = readFileSync(`${root}${document}`, "utf8");
  const part =
    section === undefined ? text : (text.split(/^## /m).find((one) => one.startsWith(`${section}\n`)) ?? "");
  return [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block).join("");
}

/** Lines that begin with `bin/linkledger` and need nothing of the shell but quotes and `> file`. */
export function commandsOf(document: string): string[] {
  const lines = shellOf(document)
    .split("\n")
    .map((line) => line.replace(/\s+# .*/, ""));
  return lines.filter((line) => line.startsWith("bin/linkledger ") && !/[$|&]/.test(line));
}

/** What follows `bin/linkledger`, as the shell would pass it, and the file that its output goes to. */
export function argumentsOf(line: string): { args: string[]; output: string | undefined } {
  const [command = "", output] = line.split(" > ");
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  const args = words.map(([, double, single, plain]) => double ?? single ?? plain ?? "");
  return { args: args.slice(1), output: output?.trim() };
}
