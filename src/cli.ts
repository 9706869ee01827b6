#!/usr/bin/env node
// The command line (DESIGN §9): reads the arguments, hands over to src/cli/, turns errors into one line and exit 1.
import { Command, CommanderError } from "commander";
import { accountCommands } from "./cli/account-commands.ts";
import { auditCommands } from "./cli/audit-commands.ts";
import { backupCommand } from "./cli/backup-command.ts";
import { domainCommands } from "./cli/domain-commands.ts";
import { keyCommands } from "./cli/key-commands.ts";
import { projectionCommands } from "./cli/projection-commands.ts";
import { secretsCommands } from "./cli/secrets-commands.ts";
import { serveCommand } from "./cli/serve-command.ts";
import { webhookCommands } from "./cli/webhook-commands.ts";
import { messageOf } from "./runtime/errors.ts";
import { makeFilesPrivate } from "./runtime/private-folder.ts";

makeFilesPrivate();

// Whoever reads our output may stop before its end, as `head` does: that is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const program = new Command("linkledger")
  .description("Short links whose every change and click is an event")
  .showSuggestionAfterError(false)
  .exitOverride();

serveCommand(program);
accountCommands(program);
keyCommands(program);
domainCommands(program);
webhookCommands(program);
projectionCommands(program);
auditCommands(program);
secretsCommands(program);
backupCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its own errors already.
  if (!(error instanceof CommanderError)) process.stderr.write(`error: ${oneLine(error)}\n`);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}

function oneLine(error: unknown): string {
  const message = messageOf(error);
  return message.trim().replace(/\s*\n\s*/g, "; ");
}
