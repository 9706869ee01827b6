#!/usr/bin/env node
// The command line as a process: its streams, signals and exit code; the commands are in src/cli/.
import { errorLine, runCommandLine } from "./cli/command-line.ts";
import { makeFilesPrivate } from "./runtime/private-folder.ts";

makeFilesPrivate();

// A reader such as `head` may close the pipe before the end of the output, which is no error; that of a failed command
// keeps its exit code.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(`error: ${errorLine(error)}\n`);
  process.exit(1);
});

const exitCode = await runCommandLine(process.argv.slice(2), process);
if (exitCode !== 0) process.exitCode = exitCode;
