// linkledger projections verify: folds the log again and compares the documents with what it gives.
import type { Command } from "commander";
import { openScratchStore } from "../../backend.ts";
import { projectionsNamed } from "../../projections/operations/operate.ts";
import type { Projection } from "../../projections/projection.ts";
import { type Verification, verifyProjections } from "../../projections/verify/verify-projections.ts";
import { createLogger } from "../../runtime/logging.ts";
import { wholeFrom } from "../arguments.ts";
import { print } from "../output.ts";
import { progressLine } from "../progress-line.ts";
import { type Json, runReadingStores, type Session } from "../session.ts";

type Options = Json & { sample?: number };

export function verifyCommand(projections: Command): void {
  projections
    .command("verify")
    .description("fold all events again, and compare what answers with the result, document by document")
    .argument("[name...]", "of projections; all by default")
    .option(
      "--sample <documents>",
      "compare about so many documents of each, drawn at random",
      wholeFrom(1, 9),
    )
    .option("--json", "print one JSON document")
    .action((names: string[], options: Options) =>
      runReadingStores((session) => verify(session, projectionsNamed(names), options)),
    );
}

/** Exit code 1 when anything differs. */
async function verify(
  { backend, deps }: Session,
  chosen: readonly Projection[],
  options: Options,
): Promise<void> {
  const { eventStore, foldStore: readStore } = backend;
  const log = createLogger("error", process.stderr);
  const started = performance.now();
  const line = progressLine(process.stderr);
  const scratch = await openScratchStore();
  try {
    const found = await verifyProjections({ ...deps, eventStore, readStore, scratch, log }, chosen, {
      sample: options.sample,
      onProgress: (progress) => {
        if (!options.json) line.show(progress);
      },
    });
    line.end();
    const seconds = Math.round(performance.now() - started) / 1000;
    print({ ...(options.json ? found : forPeople(found)), seconds }, options);
    if (!found.ok) process.exitCode = 1;
  } finally {
    line.end();
    await scratch.close();
  }
}

/** A line for each difference. */
function forPeople({ differences, ...found }: Verification) {
  return {
    ...found,
    differences: differences.map(({ projection, id, problem, fields }) => {
      const named = fields.map(({ field, stored, folded }) => `${field} is ${stored}, by the log ${folded}`);
      return [`${projection} ${id}: ${problem}`, ...named].join("; ");
    }),
  };
}
