// linkledger import bitly|dub|yourls|kutt|shlink|csv|linkledger FILE
import { Argument, InvalidArgumentError } from "commander";
import { opened } from "../../commands/account/account.ts";
import { loadAccount } from "../../commands/account/account-stream.ts";
import { acceptHostname } from "../../commands/domains/hostname.ts";
import { Refused } from "../../commands/refusals.ts";
import { type TimeZone, timeZone } from "../../queries/analytics/time-zone.ts";
import { hostName } from "../../runtime/addresses/host-name.ts";
import { Failure } from "../../runtime/errors.ts";
import { noTimeZone } from "../../runtime/moment.ts";
import { bitly } from "../../transfer/import/formats/bitly.ts";
import { dub } from "../../transfer/import/formats/dub.ts";
import { kutt } from "../../transfer/import/formats/kutt.ts";
import { linkledger } from "../../transfer/import/formats/linkledger.ts";
import { plainCsv } from "../../transfer/import/formats/plain-csv.ts";
import { shlink } from "../../transfer/import/formats/shlink.ts";
import { yourls } from "../../transfer/import/formats/yourls.ts";
import type { ImportFormat } from "../../transfer/import/imported.ts";
import { type ImportReport, runImport } from "../../transfer/import/run-import.ts";
import { type CommandRow, option } from "../command.ts";
import { STANDARD_INPUT } from "../files.ts";
import { linkDepsOf } from "../link-deps.ts";
import type { Printable } from "../output.ts";
import type { Session } from "../session.ts";
import { EXIT_INTERRUPTED } from "../work.ts";

const FORMATS = { bitly, dub, yourls, kutt, shlink, csv: plainCsv, linkledger } as const satisfies Record<
  string,
  ImportFormat
>;

type Options = {
  account: string;
  clicks?: string;
  domain?: string;
  key?: string;
  encoding?: string;
  timezone?: TimeZone;
  partial?: boolean;
  dryRun?: boolean;
};

type Report = ImportReport & { format: string; account_id: string; dry_run: boolean; partial: boolean };

export const commands: readonly CommandRow[] = [
  {
    name: "import <format> <file>",
    about: "create the links and clicks of another service's export, or of our own (docs/import.md)",
    args: {
      format: new Argument("<format>", "whose export it is").choices(Object.keys(FORMATS)),
      file: "links: CSV, JSON, or JSON lines; - for standard input",
    },
    byAccount: true,
    options: [
      option("--clicks <file>", "clicks, where they come in a file of their own (yourls, kutt, shlink)"),
      option(
        "--domain <hostname>",
        "create all links on this custom domain of the account, or on the base host",
      ),
      option("--key <key-id>", "attribute the links to this API key, which then lists them"),
      option("--encoding <label>", "of the files, such as windows-1252; UTF-8 by default", encodingArgument),
      option("--timezone <zone>", "of times without an offset, such as Europe/Berlin", zoneArgument),
      option("--partial", "take it that a file holds some pages of an answer, and not all"),
      option("--dry-run", "check everything, write nothing"),
    ],
    run: importFile,
    print: forPeople,
    exitCode: ({ interrupted, partial, missing, links, clicks }: Report) =>
      interrupted
        ? EXIT_INTERRUPTED
        : links.failed + clicks.failed > 0 || (missing.length > 0 && !partial)
          ? 1
          : 0,
  },
];

/** @throws InvalidArgumentError */
function encodingArgument(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new InvalidArgumentError("It must be an encoding such as windows-1252 or utf-16le.");
  }
}

/** @throws InvalidArgumentError */
function zoneArgument(name: string): TimeZone {
  const zone = timeZone(name);
  if (zone) return zone;
  throw new InvalidArgumentError(noTimeZone(name));
}

/** The report in any case. */
async function importFile(session: Session, options: Options, name: keyof typeof FORMATS, file: string) {
  const { backend, config, context, work, files } = session;
  const { account: accountId, clicks, domain: hostname, key, encoding, timezone } = options;
  const { dryRun = false, partial = false } = options;
  const format: ImportFormat = FORMATS[name];
  if (clicks !== undefined && !format.columns.clicks)
    throw new Failure(`${name} has no file of clicks of its own: leave --clicks out`);
  if (file === STANDARD_INPUT && clicks === STANDARD_INPUT)
    throw new Failure("Standard input can't be both the links and their clicks");
  // Before a link is made, as a file of clicks is read last.
  for (const path of [file, clicks ?? file]) await files.source(path).size();
  const { baseHost } = config;
  const isBase = hostname !== undefined && hostName(hostname) === baseHost;
  const domain = hostname === undefined || isBase ? hostname && baseHost : acceptHostname(hostname, baseHost);
  const account = opened(await loadAccount(backend.eventStore, accountId));
  if (domain !== undefined && !isBase && account.domains.get(domain)?.state !== "active")
    throw new Refused("invalid_domain");
  if (key !== undefined && account.keys.get(key)?.status !== "active") throw new Refused("key_not_found");
  const linkDeps = await linkDepsOf(session);
  const target = { account, context, domain, keyId: key, dryRun };
  const onProgress = (bytes: number, of: number, count: number) =>
    work.show({ count, share: bytes / Math.max(1, of), unit: "record" });
  const input = {
    format,
    links: files.source(file),
    clicks: clicks === undefined ? undefined : files.source(clicks),
    encoding,
    zone: timezone,
  };
  const report = await work.interruptible(
    () => "The import was ended",
    () => runImport(linkDeps, target, input, onProgress, work.signal),
  );
  return { format: name, account_id: accountId, dry_run: dryRun, partial, ...report };
}

function forPeople(report: Report): Printable {
  const { links, clicks, hosts, fields, notes, missing, errors, interrupted, dry_run: isDry } = report;
  const notTaken = Object.entries(fields).flatMap(([field, { records, becomes, left_out, refused }]) =>
    becomes === undefined ? [{ field, links: records, why: left_out ?? refused ?? "not known" }] : [],
  );
  const hostNames = Object.entries(hosts).map(([host, count]) => ({ host, links: count }));
  const again = "Interrupted: the same command, given again, goes on where this one ended. So far:";
  return {
    ...(interrupted && { note: isDry ? "Interrupted" : again }),
    ...(isDry && { dry_run: "nothing was written" }),
    links: sums(links),
    clicks: sums(clicks),
    ...(hostNames.length > 0 && { hosts: hostNames }),
    ...(notTaken.length > 0 && { fields_not_taken: notTaken }),
    ...(notes.length > 0 && { notes }),
    ...(missing.length > 0 && { missing }),
    ...(errors.length > 0 && { errors }),
  };
}

/** Such as `12 created, 3 already there`. */
function sums({ read: _, ...sums }: ImportReport["links"] | ImportReport["clicks"]): string {
  const counts = Object.entries({ ...sums }).filter(([name, count]) => count > 0 || name === "created");
  return counts
    .map(([name, count]) => `${count.toLocaleString("en")} ${NAMES[name as keyof typeof NAMES]}`)
    .join(", ");
}

const NAMES = {
  created: "created",
  already: "already there",
  failed: "failed",
  skipped: "of links that failed or are not in the file",
  only_totals: "known as a number only",
};
