// linkledger export links|account|clicks
import { createWriteStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { AccountNotFound } from "../../commands/account/account-errors.ts";
import { loadAccount } from "../../commands/account/account-stream.ts";
import type { EventStore } from "../../event-store/port.ts";
import { accountLines, EXPORTED } from "../../export/account-lines.ts";
import { CLICK_COLUMNS, clickRows } from "../../export/click-rows.ts";
import { CLICK_FORMATS, clickLines } from "../../log-reader/click-lines.ts";
import { positionBefore } from "../../queries/analytics/click-positions.ts";
import { InvalidRange } from "../../queries/errors.ts";
import { DomainError } from "../../runtime/errors.ts";
import { timeArgument } from "../arguments.ts";
import { print } from "../output.ts";
import { type Json, runReadingStores, type Session } from "../session.ts";
import { replaceFile } from "./replace-file.ts";

class FileRequired extends DomainError {
  override readonly code = "file_required";
}

type Options = Json & { out?: string };

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
        runReadingStores(async ({ backend, config, deps }) => {
          const { baseHost } = config;
          const { eventStore } = backend;
          await refuseUnknown(eventStore, accountId);
          await write(accountLines({ eventStore, baseHost, clock: deps.clock }, accountId, what), options);
        }),
      );
  withOutput(group.command("clicks").description("clicks as a table, of one account or of all"))
    .addOption(new Option("--format <format>", "of the file").choices(TABLE_FORMATS).default("ndjson"))
    .option("--account <account-id>", "of this account only")
    .option("--from <time>", "that happened at or after this ISO 8601 date or time, UTC", timeArgument)
    .option("--to <time>", "that happened before it", timeArgument)
    .action((options: ClickOptions) => runReadingStores((session) => exportClicks(session, options)));
}

const TABLE_FORMATS = [...CLICK_FORMATS, "parquet"] as const;

type ClickOptions = Options & {
  format: (typeof TABLE_FORMATS)[number];
  account?: string;
  from?: Date;
  to?: Date;
};

async function exportClicks({ backend }: Session, options: ClickOptions): Promise<void> {
  const { format, out, account: accountId, from, to } = options;
  const { eventStore, readStore } = backend;
  if (from && to && from >= to) throw new InvalidRange("--from must be before --to");
  if (accountId !== undefined) await refuseUnknown(eventStore, accountId);
  const after = from && (await positionBefore({ readStore }, from));
  const rows = clickRows({ eventStore }, { accountId, from, to }, after);
  if (format !== "parquet") {
    const { head, line } = clickLines(CLICK_COLUMNS)[format];
    const lines = async function* () {
      if (head !== "") yield head;
      for await (const page of rows) if (page.length > 0) yield page.map(line).join("");
    };
    return await write(lines(), options);
  }
  if (out === undefined)
    throw new FileRequired("A Parquet file can't go to standard output: name it by --out");
  const { writeParquet } = await import("../../export/parquet-file.ts");
  await replaceFile(out, (part) => writeParquet(part, CLICK_COLUMNS, rows));
  print({ file: out, bytes: statSync(out).size }, options);
}

/** Before a file is opened, so that a mistyped id doesn't empty an earlier export. @throws AccountNotFound */
async function refuseUnknown(eventStore: EventStore, accountId: string): Promise<void> {
  if ((await loadAccount(eventStore, accountId)).status === "absent") throw new AccountNotFound();
}

function withOutput(command: Command): Command {
  return command
    .option("--out <file>", "write there; to standard output by default")
    .option("--json", "with --out: print one JSON document about the file");
}

/** Pulls the parts as fast as they are written. */
async function write(parts: AsyncIterable<string>, options: Options): Promise<void> {
  const { out } = options;
  let bytes = 0;
  const counted = async function* () {
    for await (const part of parts) {
      bytes += Buffer.byteLength(part);
      yield part;
    }
  };
  if (out === undefined) return await pipeline(Readable.from(counted()), process.stdout, { end: false });
  await replaceFile(out, (part) =>
    pipeline(Readable.from(counted()), createWriteStream(part, { mode: 0o600 })),
  );
  print({ file: out, bytes }, options);
}
