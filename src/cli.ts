#!/usr/bin/env node
// The command line as a process: its streams, signals and exit code; the commands are in src/cli/.
import { errorLine, runCommandLine } from "./cli/command-line.ts";
import { makeFilesPrivate } from "./runtime/private-folder.ts";

makeFilesPrivate();

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader such as `head` may close the pipe before the end of the output, which is no error: the command ends by itself.
  if (error.code === "EPIPE") return;
  process.stderr.write(`error: ${errorLine(error)}\n`);
  process.exit(1);
});

const exitCode = await runCommandLine(process.argv.slice(2), process);
if (exitCode !== 0) process.exitCode = exitCode;
