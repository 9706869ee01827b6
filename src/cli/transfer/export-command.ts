// linkledger export links|account|clicks
import { extname } from "node:path";
import { Option } from "commander";
import { Refused } from "../../commands/refusals.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { TABLE_FORMATS } from "../../queries/log-reader/log-reader.ts";
import { Failure } from "../../runtime/errors.ts";
import { accountLines } from "../../transfer/export/account-lines.ts";
import { CLICK_COLUMNS, clickLines } from "../../transfer/export/click-lines.ts";
import { clickRows } from "../../transfer/export/click-rows.ts";
import { linkTable } from "../../transfer/export/link-table.ts";
import { type CommandRow, option, timeArgument } from "../command.ts";
import { STANDARD_OUTPUT } from "../files.ts";
import { ACCOUNT, STATUS_OPTION } from "../named.ts";
import { inService, type Session } from "../session.ts";

type Options = { out?: string; format?: string };
type LinkOptions = Options & { status?: LinkStatus; forSpreadsheet?: true };
type ClickOptions = Options & {
  format?: (typeof TABLE_FORMATS)[number];
  forSpreadsheet?: true;
  account?: string;
  from?: Date;
  to?: Date;
};

const LINK_FORMATS = ["ndjson", "csv"] as const;
const ACCOUNT_FORMATS = ["ndjson"] as const;
/** Also called so. */
const ENDINGS: Readonly<Record<string, string>> = { jsonl: "ndjson" };

const outOption = option("--out <file>", "write there; to standard output by default, and for -");
const guardOption = option(
  "--for-spreadsheet",
  "of CSV: begin with a byte order mark, and put ' before what a spreadsheet would run as a formula",
);

export const commands: readonly CommandRow[] = [
  {
    ...accountCommand("links", "an account's links with their state, as `import linkledger` reads them"),
    options: [outOption, formatOption(LINK_FORMATS), guardOption, STATUS_OPTION],
    run: exportLinks,
  },
  accountCommand("account", "an account's links and their clicks, as `import linkledger` reads them"),
  {
    name: "clicks",
    about: "hits (clicks and previews) as a table, of one account or of all",
    options: [
      outOption,
      formatOption(TABLE_FORMATS),
      guardOption,
      option("--account <account>", `of this account only: ${ACCOUNT.about}`),
      option("--from <time>", "that happened at or after this ISO 8601 date or time, UTC", timeArgument),
      option("--to <time>", "that happened before it", timeArgument),
    ],
    by: inService,
    run: exportClicks,
  },
];

/** The account is known before a file is opened, so that a mistyped name doesn't empty an earlier export. */
function accountCommand(what: "links" | "account", about: string): CommandRow {
  return {
    name: `${what} <account>`,
    about,
    args: { account: ACCOUNT },
    options: [outOption],
    by: inService,
    run: (session, options: Options, accountId: string) => {
      formatOf(options, ACCOUNT_FORMATS);
      return printed(session, accountLines(session.deps, accountId, what), options);
    },
  };
}

function formatOption(formats: readonly string[]): Option {
  return new Option("--format <format>", "of the file; by default as its name ends, else ndjson").choices(
    formats,
  );
}

/**
 * That the ending of the file's name says, where `format` is not given.
 * @throws wrong_format for an ending that no format has, and for a guard where there are no cells
 */
function formatOf<F extends string>(
  { format, out = STANDARD_OUTPUT, forSpreadsheet }: { format?: F; out?: string; forSpreadsheet?: true },
  formats: readonly F[],
): F | "ndjson" | "csv" {
  const ending = extname(out).slice(1).toLowerCase();
  const requested = format ?? formats.find((candidate) => candidate === (ENDINGS[ending] ?? ending));
  if (requested === undefined && ending !== "")
    throw new Refused("wrong_format", `No export is written as .${ending}, but as ${formats.join(", ")}`);
  const fileFormat = requested ?? (forSpreadsheet ? "csv" : "ndjson");
  if (forSpreadsheet && fileFormat !== "csv")
    throw new Refused("wrong_format", `--for-spreadsheet is for CSV: the file would be ${fileFormat}`);
  return fileFormat;
}

async function exportLinks(session: Session, options: LinkOptions, accountId: string) {
  const isTable = formatOf(options, LINK_FORMATS) === "csv";
  const { deps } = session;
  const { status, forSpreadsheet: forSpreadsheets = false } = options;
  const parts = isTable
    ? linkTable(deps, accountId, { status, forSpreadsheets })
    : accountLines(deps, accountId, "links", { status });
  return await printed(session, parts, options);
}

async function exportClicks(session: Session, options: ClickOptions) {
  const { out = STANDARD_OUTPUT, account, from, to, forSpreadsheet } = options;
  const format = formatOf(options, TABLE_FORMATS);
  const { eventStore, readStore } = session.backend;
  if (from && to && from >= to) throw new Refused("invalid_range", "--from must be before --to");
  const accountId = account === undefined ? undefined : await ACCOUNT.find(session, account);
  const rows = clickRows({ eventStore, readStore }, { accountId, from, to });
  if (format !== "parquet") {
    const { head, line } = clickLines(CLICK_COLUMNS)[forSpreadsheet ? "spreadsheet" : format];
    const lines = async function* () {
      if (head !== "") yield head;
      for await (const page of rows) if (page.length > 0) yield page.map(line).join("");
    };
    return await printed(session, lines(), options);
  }
  if (out === STANDARD_OUTPUT)
    throw new Failure("A Parquet file can't go to standard output: name it by --out");
  const { parquetParts } = await import("../../transfer/export/parquet-file.ts");
  return await written(session, out, parquetParts(CLICK_COLUMNS, rows));
}

async function printed(session: Session, parts: AsyncIterable<string>, { out = STANDARD_OUTPUT }: Options) {
  if (out === STANDARD_OUTPUT) return await session.work.printing(parts);
  return await written(session, out, parts);
}

async function written({ work, files }: Session, file: string, parts: AsyncIterable<string | Uint8Array>) {
  const outcome = () =>
    `${work.shareText} of the log was read, and ${file} is as it was: an export begins anew`;
  return { file, bytes: await work.interruptible(outcome, () => files.write(file, parts)) };
}
