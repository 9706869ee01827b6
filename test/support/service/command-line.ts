// The command line as operators and scripts use it: its standard output and its exit code, in this process.
import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { expect } from "vitest";
import { runCommandLine } from "../../../src/cli/command-line.ts";
import { childEnvironment } from "./child-environment.ts";

export type Outcome = { code: number; stdout: string; stderr: string };

type Environment = Readonly<Record<string, string>>;

/** `signals` emits SIGINT and SIGTERM as a process would. */
export async function runCommand(
  args: readonly string[],
  { env, signals = new EventEmitter() }: { env: Environment; signals?: EventEmitter },
): Promise<Outcome> {
  const [stdout, stderr] = [collected(), collected()];
  const code = await runCommandLine(args, {
    env,
    stdout: stdout.output,
    stderr: stderr.output,
    on: signals.on.bind(signals),
    off: signals.off.bind(signals),
    exit(code) {
      throw new Error(`the command would have ended this process with ${code}`);
    },
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/**
 * Commands for the service that has `dataDir`, also where it runs in this process; those that need none, else on the stores
 * there, by the settings of `instance`. No test may read or copy the files of a running service in its process: closing them would drop the locks that keep other processes
 * off.
 */
export function commandLine(dataDir: string, instance: Environment = {}) {
  return commandsBy((args, env) => runCommand(args, { env: { DATA_DIR: dataDir, ...instance, ...env } }));
}

/** The same in a process of their own. `program`: the folder of another program than ours. */
export function commandProcess(dataDir: string, instance: Environment = {}, program = process.cwd()) {
  return commandsBy(
    (args, env) =>
      new Promise((resolve) => {
        const options = {
          cwd: program,
          env: childEnvironment({ DATA_DIR: dataDir, ...instance, ...env }),
        };
        execFile(process.execPath, ["src/cli.ts", ...args], options, (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
        });
      }),
  );
}

function commandsBy(run: (args: readonly string[], env: Environment) => Promise<Outcome>) {
  return {
    linkledger: (args: readonly string[], env: Environment = {}) => run(args, env),
    /** The one JSON document that a command prints; nothing else may be printed. */
    async json(...args: string[]) {
      const outcome = await run([...args, "--json"], {});
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      expect(outcome.stdout.trim().split("\n")).toHaveLength(1);
      return JSON.parse(outcome.stdout);
    },
    /** The one line on standard error that a refused command prints, with exit code 1. */
    async refused(...args: string[]): Promise<string> {
      const outcome = await run([...args, "--json"], {});
      expect(outcome).toMatchObject({ code: 1, stdout: "" });
      expect(outcome.stderr).toMatch(/^error: [^\n]+\n$/);
      return outcome.stderr;
    },
  };
}

function collected() {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { output, text: () => Buffer.concat(chunks).toString() };
}
