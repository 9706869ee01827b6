// linkledger export links|account
import { createWriteStream } from "node:fs";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { accountLines, EXPORTED } from "../../export/account-lines.ts";
import { print } from "../output.ts";
import { runWithStores } from "../session.ts";

type Options = { out?: string; json?: boolean };

const DESCRIPTIONS = {
  links: "an account's links with their state, as `import linkledger` reads them",
  account: "an account's links with their state, and their clicks, as `import linkledger` reads them",
};

export function exportCommands(program: Command): void {
  const group = program.command("export").description("links and clicks as files (docs/import.md)");
  for (const what of EXPORTED)
    withOutput(group.command(what).description(DESCRIPTIONS[what]).argument("<account-id>"))
      .addOption(new Option("--format <format>", "of the file").choices(["ndjson"]).default("ndjson"))
      .action((accountId: string, options: Options) =>
        runWithStores(async ({ backend, config, deps }) => {
          const { baseHost } = config;
          const { eventStore } = backend;
          await write(accountLines({ eventStore, baseHost, clock: deps.clock }, accountId, what), options);
        }),
      );
}

function withOutput(command: Command): Command {
  return command
    .option("--out <file>", "write there; to standard output by default")
    .option("--json", "with --out: print one JSON document about the file");
}

/** Pulls the parts as fast as they are written. */
async function write(parts: AsyncIterable<string>, { out, json = false }: Options): Promise<void> {
  let bytes = 0;
  const counted = async function* () {
    for await (const part of parts) {
      bytes += Buffer.byteLength(part);
      yield part;
    }
  };
  const to: Writable = out === undefined ? process.stdout : createWriteStream(out, { mode: 0o600 });
  await pipeline(Readable.from(counted()), to, { end: out !== undefined });
  if (out !== undefined) print({ file: out, bytes }, json);
}
