// The command line: which word is which command, and how commands end: an exit code, and an error as one line.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Command, CommanderError } from "commander";
import { VERSION } from "../config/version.ts";
import { messageOf } from "../runtime/errors.ts";
import { isRefused } from "../runtime/refused.ts";
import { addCommand, type CommandRow } from "./command.ts";
import { printable, type Terminal } from "./output.ts";

type Entry = { about?: string; load: () => Promise<CommandRow | readonly CommandRow[]> };

/** By their first word; what has an `about` is a group. Loaded as needed: a command doesn't wait for the code of others. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { load: async () => (await import("./serve-command.ts")).serveCommand },
  account: {
    about: "accounts and their tiers",
    load: async () => (await import("./accounts/account-commands.ts")).accountCommands,
  },
  key: {
    about: "API keys",
    load: async () => (await import("./accounts/key-commands.ts")).keyCommands,
  },
  domain: {
    about: "custom domains",
    load: async () => (await import("./accounts/domain-commands.ts")).domainCommands,
  },
  webhook: {
    about: "webhooks: link.clicked sent to an endpoint",
    load: async () => (await import("./webhooks/webhook-commands.ts")).webhookCommands,
  },
  link: {
    about: "one link: what it is, and stopping an abusive one",
    load: async () => (await import("./link-commands.ts")).linkCommands,
  },
  clicks: {
    about: "take hits out of the numbers, such as tests or fraud (docs/replay.md)",
    load: async () => (await import("./clicks/click-commands.ts")).clickCommands,
  },
  projections: {
    about: "documents folded from events",
    load: async () => (await import("./projections/projection-commands.ts")).projectionCommands,
  },
  audit: {
    about: "the log of events",
    load: async () => (await import("./audit/audit-commands.ts")).auditCommands,
  },
  explain: { load: async () => (await import("./audit/question-commands.ts")).explainCommand },
  secrets: {
    about: "what is kept beside the log, encrypted",
    load: async () => (await import("./secrets-commands.ts")).secretsCommands,
  },
  import: { load: async () => (await import("./transfer/import-command.ts")).importCommand },
  export: {
    about: "links and clicks as files (docs/import.md)",
    load: async () => (await import("./transfer/export-command.ts")).exportCommands,
  },
  backup: { load: async () => (await import("./storage/backup-command.ts")).backupCommand },
};

/** Resolves with the exit code when the command has ended; of `serve` when the service has started. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const end = (code: number) => {
    exitCode = code;
  };
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
    for (const row of [await load()].flat()) addCommand(parent, row, terminal, end);
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    say(`${isRefused(error, "interrupted") ? "interrupted" : "error"}: ${errorLine(error)}`);
    return isRefused(error) ? error.exit : 1;
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
  if (code === "ENOENT" && path !== undefined) return missing(path);
  const problem = FILE_PROBLEMS[code];
  if (problem === undefined || path === undefined) return problem;
  return `${problem}: ${code === "ENOTDIR" ? dirname(path) : path}`;
}

function missing(path: string): string {
  const folder = dirname(resolve(path));
  return existsSync(folder) ? `No such file: ${path}` : `No such folder: ${dirname(path)}`;
}
