// linkledger export links|account|clicks
import { Option } from "commander";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { positionBefore } from "../../queries/analytics/log-positions.ts";
import { TABLE_FORMATS, type TableFormat } from "../../queries/log-reader/log-reader.ts";
import { Refused } from "../../runtime/refused.ts";
import { accountLines } from "../../transfer/export/account-lines.ts";
import { CLICK_COLUMNS, clickLines } from "../../transfer/export/click-lines.ts";
import { clickRows } from "../../transfer/export/click-rows.ts";
import { linkTable } from "../../transfer/export/link-table.ts";
import { type CommandRow, option, timeArgument } from "../command.ts";
import { ACCOUNT, STATUS_OPTION } from "../named.ts";
import { runReading, type Session } from "../session.ts";

type Options = { out?: string; format?: string };
type LinkOptions = Options & { status?: LinkStatus };
type ClickOptions = Options & {
  format?: TableFormat;
  account?: string;
  from?: Date;
  to?: Date;
};

const LINK_FORMATS = ["ndjson", "csv"] as const;

const outOption = option("--out <file>", "write there; to standard output by default");

export const commands: readonly CommandRow[] = [
  {
    ...accountCommand("links", "an account's links with their state, as `import linkledger` reads them"),
    options: [outOption, formatOption(LINK_FORMATS), STATUS_OPTION],
    run: exportLinks,
  },
  accountCommand("account", "an account's links and their clicks, as `import linkledger` reads them"),
  {
    name: "clicks",
    about: "hits (clicks and previews) as a table, of one account or of all",
    options: [
      outOption,
      formatOption(TABLE_FORMATS),
      option("--account <account>", `of this account only: ${ACCOUNT.about}`),
      option("--from <time>", "that happened at or after this ISO 8601 date or time, UTC", timeArgument),
      option("--to <time>", "that happened before it", timeArgument),
    ],
    by: runReading,
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
    by: runReading,
    run: (session, options: Options, accountId: string) =>
      printed(session, accountLines(session.deps, accountId, what), options),
  };
}

function formatOption(formats: readonly string[]): Option {
  return new Option("--format <format>", "of the file; by default as its name ends, else ndjson").choices(
    formats,
  );
}

/** That the ending of the file's name says, where `format` is not given. */
function formatOf<F extends string>(
  { format, out = "" }: { format?: F; out?: string },
  formats: readonly F[],
) {
  return format ?? formats.find((known) => out.toLowerCase().endsWith(`.${known}`)) ?? "ndjson";
}

async function exportLinks(session: Session, options: LinkOptions, accountId: string) {
  const isTable = formatOf(options, LINK_FORMATS as readonly string[]) === "csv";
  const { deps } = session;
  return await printed(
    session,
    isTable ? linkTable(deps, accountId, options) : accountLines(deps, accountId, "links", options),
    options,
  );
}

async function exportClicks(session: Session, options: ClickOptions) {
  const { out, account, from, to } = options;
  const format = formatOf(options, TABLE_FORMATS);
  const { eventStore, readStore } = session.backend;
  if (from && to && from >= to) throw new Refused("invalid_range", "--from must be before --to");
  const accountId = account === undefined ? undefined : await ACCOUNT.find(session, account);
  const after = from && (await positionBefore({ readStore }, from));
  const rows = clickRows({ eventStore }, { accountId, from, to }, after);
  if (format !== "parquet") {
    const { head, line } = clickLines(CLICK_COLUMNS)[format];
    const lines = async function* () {
      if (head !== "") yield head;
      for await (const page of rows) if (page.length > 0) yield page.map(line).join("");
    };
    return await printed(session, lines(), options);
  }
  if (out === undefined)
    throw new Refused("file_required", "A Parquet file can't go to standard output: name it by --out");
  const { parquetParts } = await import("../../transfer/export/parquet-file.ts");
  return await written(session, out, parquetParts(CLICK_COLUMNS, rows));
}

async function printed(session: Session, parts: AsyncIterable<string>, { out }: Options) {
  if (out === undefined) return await session.work.printing(parts);
  return await written(session, out, parts);
}

async function written({ work, files }: Session, file: string, parts: AsyncIterable<string | Uint8Array>) {
  const outcome = () =>
    `${work.shareText} of the log was read, and ${file} is as it was: an export begins anew`;
  return { file, bytes: await work.interruptible(outcome, () => files.write(file, parts)) };
}
