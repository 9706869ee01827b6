// linkledger import bitly|yourls|kutt|shlink|linkledger FILE
import { statSync } from "node:fs";
import { Argument, type Command } from "commander";
import { KeyNotFound } from "../../commands/account/account-errors.ts";
import { loadOpenAccount } from "../../commands/account/account-stream.ts";
import { acceptHostname } from "../../commands/domains/hostname.ts";
import { InvalidDomain } from "../../commands/links/link-errors.ts";
import { recheckLater } from "../../commands/links/url-rechecks.ts";
import { urlSafety } from "../../commands/links/url-safety.ts";
import { bitly } from "../../import/formats/bitly.ts";
import { kutt } from "../../import/formats/kutt.ts";
import { linkledger } from "../../import/formats/linkledger.ts";
import { shlink } from "../../import/formats/shlink.ts";
import { yourls } from "../../import/formats/yourls.ts";
import type { ImportFormat } from "../../import/imported.ts";
import { runImport } from "../../import/run-import.ts";
import { DomainError } from "../../runtime/errors.ts";
import { createLogger } from "../../runtime/logging.ts";
import { countLine } from "../progress-line.ts";
import { type Json, runCommand, type Session } from "../session.ts";

const FORMATS = { bitly, yourls, kutt, shlink, linkledger } as const satisfies Record<string, ImportFormat>;

type Options = Json & {
  account: string;
  clicks?: string;
  domain?: string;
  key?: string;
  dryRun?: boolean;
};

class FileNotFound extends DomainError {
  override readonly code = "file_not_found";
}

class NoFileOfClicks extends DomainError {
  override readonly code = "no_file_of_clicks";
}

export function importCommand(program: Command): void {
  program
    .command("import")
    .description("create the links and clicks of another service's export, or of our own (docs/import.md)")
    .addArgument(new Argument("<format>", "whose export it is").choices(Object.keys(FORMATS)))
    .argument("<file>", "links: CSV, JSON, or JSON lines")
    .requiredOption("--account <account-id>", "who gets the links")
    .option("--clicks <file>", "clicks, where they come in a file of their own (yourls, kutt, shlink)")
    .option("--domain <hostname>", "create all links on this custom domain of the account")
    .option("--key <key-id>", "attribute the links to this API key, which then lists them")
    .option("--dry-run", "check everything, write nothing")
    .option("--json", "print one JSON document")
    .action((name: keyof typeof FORMATS, file: string, options: Options) =>
      runCommand(options, (session) => importFile(session, name, file, options)),
    );
}

/** Prints the report in any case; exit code 1 when a record failed. */
async function importFile(
  { backend, config, deps, context }: Session,
  name: keyof typeof FORMATS,
  file: string,
  { account: accountId, clicks, domain: hostname, key, dryRun = false, json }: Options,
) {
  if (clicks !== undefined && FORMATS[name].oneFile)
    throw new NoFileOfClicks(`${name} has no file of clicks of its own: leave --clicks out`);
  for (const wanted of [file, ...(clicks === undefined ? [] : [clicks])])
    if (statSync(wanted, { throwIfNoEntry: false })?.isDirectory() !== false)
      throw new FileNotFound(`There is no file ${wanted}`);
  const domain = hostname === undefined ? undefined : acceptHostname(hostname, config.baseHost);
  const account = await loadOpenAccount(backend.eventStore, accountId);
  if (domain !== undefined && account.domains.get(domain)?.state !== "active") throw new InvalidDomain();
  if (key !== undefined && account.keys.get(key) !== "active") throw new KeyNotFound();
  const log = createLogger("warn", process.stderr);
  const importing = {
    ...deps,
    urlSafety: urlSafety({ ...config, log }),
    recheckLater: recheckLater(deps),
  };
  const target = { account, context, domain, keyId: key, dryRun };
  const line = countLine(process.stderr, "records");
  const report = await runImport(
    importing,
    target,
    { format: FORMATS[name], links: file, clicks },
    (done) => {
      if (!json) line.show(done);
    },
  ).finally(() => line.end());
  if (report.links.failed + report.clicks.failed > 0) process.exitCode = 1;
  return { format: name, account_id: accountId, dry_run: dryRun, ...report };
}
