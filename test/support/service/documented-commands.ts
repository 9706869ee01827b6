// The command lines that a document shows, and a shell that runs one as it stands there.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childEnvironment } from "./child-environment.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Lines of shell blocks that begin with `npx linkledger`, without their remarks. */
export function commandsOf(document: string): string[] {
  const blocks = readFileSync(`${root}${document}`, "utf8").matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => line.startsWith("npx linkledger "))
    .map((line) => line.replace(/\s+#.*/, ""));
}

/** @throws with what it printed unless it ends with 0 */
export async function runInShell(line: string, environment: Record<string, string>): Promise<string> {
  const npx = `npx() { shift; "${process.execPath}" src/cli.ts "$@"; }`;
  const options = { cwd: root, env: childEnvironment(environment) };
  const { stdout } = await promisify(execFile)("sh", ["-c", `${npx}\n${line}`], options);
  return stdout;
}
