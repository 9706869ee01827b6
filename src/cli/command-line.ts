// The command line: which word is which command, and how commands end: an exit code, and an error as one line.
import { dirname } from "node:path";
import { Command, CommanderError } from "commander";
import { isRefused } from "../commands/refusals.ts";
import { VERSION } from "../config/version.ts";
import { messageOf } from "../runtime/errors.ts";
import { addCommand, type CommandRow } from "./command.ts";
import { printable, type Terminal } from "./output.ts";
import type { Served } from "./session.ts";
import { EXIT_INTERRUPTED } from "./work.ts";

/** What has an `about` is a group. */
type Entry = { about?: string; load: () => Promise<{ commands: readonly CommandRow[] }> };

/** By their first word. Loaded as needed: a command doesn't wait for the code of others. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { load: () => import("./serve-command.ts") },
  account: { about: "accounts and their tiers", load: () => import("./accounts/account-commands.ts") },
  member: {
    about: "who is in an account, and with which role",
    load: () => import("./accounts/member-commands.ts"),
  },
  person: { about: "who signs in", load: () => import("./accounts/person-commands.ts") },
  key: { about: "API keys", load: () => import("./accounts/key-commands.ts") },
  domain: { about: "custom domains", load: () => import("./accounts/domain-commands.ts") },
  webhook: {
    about: "webhooks: link.clicked sent to an endpoint",
    load: () => import("./webhooks/webhook-commands.ts"),
  },
  link: { about: "what a link is, and stopping an abusive one", load: () => import("./link-commands.ts") },
  clicks: {
    about: "take hits out of the numbers, such as tests or fraud (docs/audit.md)",
    load: () => import("./click-commands.ts"),
  },
  projections: {
    about: "documents folded from events",
    load: () => import("./projection-commands.ts"),
  },
  audit: { about: "the log of events", load: () => import("./audit/audit-commands.ts") },
  explain: {
    load: async () => ({ commands: [(await import("./audit/question-commands.ts")).explainCommand] }),
  },
  log: { about: "which log goes with what is kept beside it", load: () => import("./log-commands.ts") },
  secrets: { about: "what is kept beside the log, encrypted", load: () => import("./secrets-commands.ts") },
  import: { load: () => import("./transfer/import-command.ts") },
  export: {
    about: "links and clicks as files (docs/import.md)",
    load: () => import("./transfer/export-command.ts"),
  },
  backup: { load: () => import("./backup-command.ts") },
};

/**
 * Resolves with the exit code when the command has ended; of `serve` when the service has started. `open`: of the service
 * that it runs in, what it runs on.
 */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
  open?: () => Promise<Served>,
): Promise<number> {
  let exitCode = 0;
  const end = (code: number) => {
    exitCode = code;
  };
  const place = { args, terminal, open, end };
  const say = (text: string) => terminal.stderr.write(`${text}\n`);
  const program = new Command("linkledger")
    .description("Short links whose every change and click is an event")
    .version(VERSION, "-V, --version", "print the version")
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      // Commander's suggestion is a line of its own.
      outputError: (text) => say(oneLine(text.replace(/\n\((.*)\)/, "; $1"))),
    })
    .exitOverride();
  const called = Object.entries(COMMANDS).filter(([name]) => name === args[0]);
  for (const [name, { about, load }] of called.length > 0 ? called : Object.entries(COMMANDS)) {
    const parent = about === undefined ? program : program.command(name).description(about);
    for (const row of (await load()).commands) addCommand(parent, row, place);
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const isInterrupted = isRefused(error, "interrupted");
    say(`${isInterrupted ? "interrupted" : "error"}: ${errorLine(error)}`);
    return isInterrupted ? EXIT_INTERRUPTED : 1;
  }
}

/** What went wrong, in one line for people. */
export function errorLine(error: unknown): string {
  return oneLine(fileProblem(error) ?? messageOf(error));
}

function oneLine(message: string): string {
  return printable(message.trim().replace(/\s*\n\s*/g, "; "));
}

/** By the code of an error of the file system. */
const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "No such file or folder",
  ENOTDIR: "Not a folder",
  EISDIR: "A folder, not a file",
  EACCES: "This user may not use it",
  EPERM: "This user may not use it",
  EROFS: "The disk can only be read",
  ENOSPC: "The disk is full",
};

/** What is wrong with a file or folder that a command was given; undefined for what is no error of the file system. */
function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code = "", path } = error as NodeJS.ErrnoException;
  // Without a path it is something else that isn't there, such as a server's socket.
  if (code === "ENOENT" && path === undefined) return undefined;
  const problem = FILE_PROBLEMS[code];
  return problem && path ? `${problem}: ${code === "ENOTDIR" ? dirname(path) : path}` : problem;
}
