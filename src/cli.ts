#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { fileProblem } from "./cli/file-problem.ts";
import { printable } from "./cli/output.ts";
import { VERSION } from "./config/version.ts";
import { messageOf } from "./runtime/errors.ts";
import { makeFilesPrivate } from "./runtime/private-folder.ts";
// The command line: runs the command of src/cli/, and prints an error as one line with exit code 1.
import { isRefused } from "./runtime/refused.ts";

makeFilesPrivate();

// A reader such as `head` may close the pipe before the end of the output, which is no error; that of a failed command
// keeps its exit code.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(`error: ${oneLine(error)}\n`);
  process.exit(1);
});

const program = new Command("linkledger")
  .description("Short links whose every change and click is an event")
  .version(VERSION, "-V, --version", "print the version")
  .configureOutput({
    outputError: (text, write) => write(`${oneLine(text.replace(/\n\((.*)\)/, "; $1"))}\n`),
  })
  .exitOverride();

for (const register of await groupsFor(process.argv[2])) register(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander prints its own errors.
  const isCommanders = error instanceof CommanderError;
  const isInterrupted = isRefused(error, "interrupted");
  if (!isCommanders) process.stderr.write(`${isInterrupted ? "interrupted" : "error"}: ${oneLine(error)}\n`);
  process.exitCode = isCommanders ? error.exitCode : isRefused(error) ? error.exit : 1;
}

/** Loads the group of the command only; all groups for help and for an unknown command. */
async function groupsFor(command: string | undefined): Promise<((program: Command) => void)[]> {
  const load = new Map<string, () => Promise<(program: Command) => void>>([
    ["serve", async () => (await import("./cli/serve-command.ts")).serveCommand],
    ["account", async () => (await import("./cli/accounts/account-commands.ts")).accountCommands],
    ["key", async () => (await import("./cli/accounts/key-commands.ts")).keyCommands],
    ["domain", async () => (await import("./cli/accounts/domain-commands.ts")).domainCommands],
    ["webhook", async () => (await import("./cli/webhooks/webhook-commands.ts")).webhookCommands],
    ["link", async () => (await import("./cli/link-commands.ts")).linkCommands],
    ["clicks", async () => (await import("./cli/clicks/click-commands.ts")).clickCommands],
    [
      "projections",
      async () => (await import("./cli/projections/projection-commands.ts")).projectionCommands,
    ],
    ["audit", async () => (await import("./cli/audit-commands.ts")).auditCommands],
    ["explain", async () => (await import("./cli/audit/explain-command.ts")).explainCommand],
    ["secrets", async () => (await import("./cli/secrets-commands.ts")).secretsCommands],
    ["import", async () => (await import("./cli/transfer/import-command.ts")).importCommand],
    ["export", async () => (await import("./cli/transfer/export-command.ts")).exportCommands],
    ["backup", async () => (await import("./cli/storage/backup-command.ts")).backupCommand],
  ]);
  const own = load.get(command ?? "");
  return await Promise.all((own ? [own] : [...load.values()]).map((group) => group()));
}

function oneLine(error: unknown): string {
  const message = fileProblem(error) ?? messageOf(error);
  return printable(message.trim().replace(/\s*\n\s*/g, "; "));
}
