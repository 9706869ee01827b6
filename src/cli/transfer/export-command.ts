// linkledger export links|account|clicks
import { createWriteStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Option } from "commander";
import { accountLines, EXPORTED } from "../../export/account-lines.ts";
import { CLICK_COLUMNS, clickRows } from "../../export/click-rows.ts";
import { CLICK_FORMATS, clickLines } from "../../log-reader/click-lines.ts";
import { positionBefore } from "../../queries/analytics/click-positions.ts";
import { Refused } from "../../runtime/refused.ts";
import { type CommandRow, option, timeArgument } from "../command.ts";
import { ACCOUNT, accountNamed } from "../named.ts";
import { runReading, type Session } from "../session.ts";
import { replaceFile } from "./replace-file.ts";

type Options = { out?: string };

const DESCRIPTIONS = {
  links: "an account's links with their state, as `import linkledger` reads them",
  account: "an account's links with their state, and their clicks, as `import linkledger` reads them",
};
const TABLE_FORMATS = [...CLICK_FORMATS, "parquet"] as const;

type ClickOptions = Options & {
  format: (typeof TABLE_FORMATS)[number];
  account?: string;
  from?: Date;
  to?: Date;
};

const common = {
  by: runReading,
  print: ({ file, bytes }: { file: string; bytes: number }) => `${file}: ${bytes.toLocaleString("en")} bytes`,
};
const outOption = option("--out <file>", "write there; to standard output by default");

export const exportCommands: readonly CommandRow[] = [
  ...EXPORTED.map(
    (what): CommandRow => ({
      ...common,
      name: `${what} <account>`,
      about: DESCRIPTIONS[what],
      args: { account: ACCOUNT },
      options: [
        outOption,
        new Option("--format <format>", "of the file").choices(["ndjson"]).default("ndjson"),
      ],
      async run(session, options: Options, given: string) {
        const { eventStore } = session.backend;
        const { baseHost } = session.config;
        // Before a file is opened, so that a mistyped name doesn't empty an earlier export.
        const accountId = await accountNamed(session, given);
        const lines = accountLines({ eventStore, baseHost, clock: session.deps.clock }, accountId, what);
        return await write(session, lines, options);
      },
    }),
  ),
  {
    ...common,
    name: "clicks",
    about: "hits (clicks and previews) as a table, of one account or of all",
    options: [
      outOption,
      new Option("--format <format>", "of the file").choices(TABLE_FORMATS).default("ndjson"),
      option("--account <account>", `of this account only: ${ACCOUNT}`),
      option("--from <time>", "that happened at or after this ISO 8601 date or time, UTC", timeArgument),
      option("--to <time>", "that happened before it", timeArgument),
    ],
    run: exportClicks,
  },
];

async function exportClicks(session: Session, options: ClickOptions) {
  const { format, out, account, from, to } = options;
  const { eventStore, readStore } = session.backend;
  if (from && to && from >= to) throw new Refused("invalid_range", "--from must be before --to");
  const accountId = account === undefined ? undefined : await accountNamed(session, account);
  const after = from && (await positionBefore({ readStore }, from));
  const rows = clickRows({ eventStore }, { accountId, from, to }, after);
  if (format !== "parquet") {
    const { head, line } = clickLines(CLICK_COLUMNS)[format];
    const lines = async function* () {
      if (head !== "") yield head;
      for await (const page of rows) if (page.length > 0) yield page.map(line).join("");
    };
    return await write(session, lines(), options);
  }
  if (out === undefined)
    throw new Refused("file_required", "A Parquet file can't go to standard output: name it by --out");
  const { writeParquet } = await import("../../export/parquet-file.ts");
  return await written(session, out, (part) => writeParquet(part, CLICK_COLUMNS, rows));
}

/** Pulls the parts as fast as they are written. */
async function write(session: Session, parts: AsyncIterable<string>, { out }: Options) {
  if (out !== undefined)
    return await written(session, out, (part) =>
      pipeline(Readable.from(parts), createWriteStream(part, { mode: 0o600 })),
    );
  return await session.work.printing(parts);
}

async function written({ work }: Session, file: string, write: (part: string) => Promise<void>) {
  await work.interruptible(
    () => `${work.shareText} of the log was read, and ${file} is as it was: an export begins anew`,
    () => replaceFile(file, write),
  );
  return { file, bytes: statSync(file).size };
}
