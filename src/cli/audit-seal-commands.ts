// linkledger audit verify | seal | key | export: the seals of the log, on the server and offline.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { exportLog } from "../audit/export/export-log.ts";
import { verifyExport } from "../audit/export/verify-export.ts";
import { newestSeal } from "../audit/seals/newest-seal.ts";
import { sealKeysFrom } from "../audit/seals/seal-keys.ts";
import { Sealer } from "../audit/seals/sealer.ts";
import { parseKnownPast, verifySealedLog } from "../audit/verify-sealed-log.ts";
import { openVerifiableLog } from "../backend.ts";
import { refuseForeignPosition } from "../event-store/foreign-position.ts";
import { DomainError } from "../runtime/errors.ts";
import { print } from "./output.ts";
import { type Json, runReading, runReadingStores, runWithoutCatchUp, type Session } from "./session.ts";

class BadAnchor extends DomainError {
  override readonly code = "bad_anchor";
}

class KeyMissing extends DomainError {
  override readonly code = "key_missing";
}

class FileMissing extends DomainError {
  override readonly code = "file_missing";
}

type VerifyOptions = Json & { full?: boolean; anchor?: string; file?: string; key?: string[] };
type ExportOptions = { from?: string; to?: string; stream?: string };

export function auditSealCommands(audit: Command): void {
  audit
    .command("verify")
    .description("check the log against its seals; events behind the last good seal also by themselves")
    .option("--full", "check every event: seals, order, schemas, times, and the rules of its stream")
    .option("--anchor <anchor>", "of an earlier verification: was anything up to there changed?")
    .addOption(
      new Option("--file <file>", "check an exported file instead, offline; needs --key").conflicts([
        "full",
        "anchor",
      ]),
    )
    .option("--key <key...>", "with --file: public keys, as `audit key` prints them")
    .option("--json", "print one JSON document")
    .action((options: VerifyOptions) =>
      options.file === undefined
        ? runReading(options, (session) => verify(session, options))
        : verifyFile(options.file, options),
    );

  audit
    .command("seal")
    .description(
      "seal what is not sealed yet, as the service does after a quiet minute, or go on under a changed SECRET_KEY",
    )
    .option("--anyway", "also behind a seal that can't be trusted, or after an older log was restored")
    .option("--json", "print one JSON document")
    .action((options: Json & { anyway?: boolean }) =>
      runWithoutCatchUp(options, (session) => sealNow(session, options.anyway ?? false)),
    );

  audit
    .command("key")
    .description("the public key of the seals, to be kept outside of the service")
    .option("--json", "print one JSON document")
    .action((options: Json) =>
      runReading(options, async (session) => {
        const [{ publicKey }] = sealKeysFrom(session.config);
        return { public_key: publicKey };
      }),
    );

  audit
    .command("export")
    .description("the log, or a part of it, as lines of JSON with the seals that cover it")
    .option("--from <position>", "the first position")
    .option("--to <position>", "the last position")
    .option("--stream <name>", "events of this stream only")
    .action((options: ExportOptions) =>
      runReadingStores(async ({ backend }) => {
        for (const position of [options.from, options.to])
          if (position !== undefined) await refuseForeignPosition(backend, position);
        const lines = async function* () {
          for await (const line of exportLog(backend, options)) yield `${JSON.stringify(line)}\n`;
        };
        await pipeline(Readable.from(lines()), process.stdout, { end: false });
      }),
    );
}

/** Prints the result in any case; exit code 1 when the log has a problem. */
async function verify(session: Session, { full = false, anchor, key }: VerifyOptions) {
  if (key) throw new FileMissing("--key needs --file: the log itself is checked by the keys of SECRET_KEY");
  const known = anchor === undefined ? undefined : parseKnownPast(anchor);
  if (anchor !== undefined && !known)
    throw new BadAnchor(
      "An anchor is what an earlier verification printed, such as a number, a colon and 64 hex digits",
    );
  const { clock } = session.deps;
  const log = await openVerifiableLog(session.config);
  const found = await verifySealedLog(
    { ...log, clock, keys: sealKeysFrom(session.config), newest: newestSeal(session.backend.foldStore) },
    { full, known, onProgress: (count) => session.work.show({ count, unit: "event" }) },
  ).finally(() => log.close());
  if (!found.ok) process.exitCode = 1;
  const { ok, events, streams, types, problemCount, problems, seals, anchor: now } = found;
  return { ok, events, streams, types, problem_count: problemCount, problems, seals, anchor: now };
}

/** Needs neither stores nor settings. */
async function verifyFile(file: string, options: VerifyOptions): Promise<void> {
  if (!options.key) throw new KeyMissing("--file needs --key: the public key that `audit key` printed");
  // An error here, as the stream's own would come too late.
  await stat(file);
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  const { ok, seals, events, unsealed, selection, problems } = await verifyExport(lines, options.key);
  if (!ok) process.exitCode = 1;
  const shown = Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));
  print({ ok, seals, events, unsealed, selection: shown, problem_count: problems.length, problems }, options);
}

async function sealNow(session: Session, anyway: boolean) {
  const { eventStore, foldStore } = session.backend;
  const { clock, newId } = session.deps;
  const deps = {
    eventStore,
    keys: sealKeysFrom(session.config),
    newest: newestSeal(foldStore),
    clock,
    newId,
  };
  const sealer = await Sealer.open(deps, { anyway });
  while (await sealer.read());
  if (sealer.unsealed > 0 || sealer.hasKeyChanged) await sealer.seal();
  const { last } = sealer;
  return {
    seals: last ? last.number + 1 : 0,
    events: last?.total ?? 0,
    position: last?.position ?? null,
  };
}
