// linkledger archive: moves old clicks of the embedded log to files that all reads go through (docs/archive.md).
import { type Command, InvalidArgumentError } from "commander";
import { type ArchiveLogDeps, ArchiveRefused, archivableDays, archiveLog } from "../../audit/archive-log.ts";
import { newestSeal } from "../../audit/seals/newest-seal.ts";
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { openEmbeddedArchive } from "../../backend.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import type { ArchivableDay, ArchiveFile, LogArchive } from "../../event-store/log-archive.ts";
import { parseMoment } from "../../runtime/moment.ts";
import type { Printable } from "../output.ts";
import { textLine } from "../progress-line.ts";
import { configWithData, type Json, runWithoutCatchUp, type Session } from "../session.ts";

type Options = Json & { before?: Date; dryRun?: boolean; restore?: string; vacuum?: boolean };

export function archiveCommand(program: Command): void {
  program
    .command("archive")
    .description("move old clicks of the embedded log to compressed files, which every read goes through")
    .option(
      "--before <date>",
      "those recorded before this day, UTC; at the latest the day before yesterday",
      day,
    )
    .option("--dry-run", "only print what would be moved")
    .option("--restore <file>", "put the clicks of a file back into the log, and remove the file")
    .option("--vacuum", "give the room in events.db back to the disk; recording clicks waits meanwhile")
    .option("--json", "print one JSON document")
    .action(async (options: Options) => {
      const archive = openEmbeddedArchive(configWithData(), runtimeDeps);
      if (!archive)
        throw new ArchiveRefused(
          "archive is for the embedded log: with EVENTSTORE_URL, use that server's own scavenging and tiering",
        );
      try {
        await runWithoutCatchUp(options, (session) => run(session, archive, options));
      } finally {
        archive.close();
      }
    });
}

async function run(session: Session, archive: LogArchive, options: Options): Promise<Printable> {
  const { before, restore, vacuum = false, json } = options;
  if (before && restore !== undefined) throw new ArchiveRefused("Give either --before or --restore");
  if (options.dryRun && (!before || vacuum)) throw new ArchiveRefused("--dry-run is for --before alone");
  const deps = depsOf(session, archive);
  if (options.dryRun && before) return planned(archivableDays(deps, before));
  const line = textLine(process.stderr);
  const show = (file: string, what: string, events: number) => {
    if (!json) line.show(`${file}: ${events} clicks ${what}`);
  };
  const bytesBefore = archive.size().bytes;
  try {
    if (restore !== undefined) await archive.restore(restore, (events) => show(restore, "restored", events));
    const moved =
      before && (await archiveLog(deps, before, ({ file, step, events }) => show(file, step, events)));
    if (vacuum) archive.vacuum();
    const { bytes, freeBytes } = archive.size();
    const log = { bytes_before: bytesBefore, bytes, free_bytes: freeBytes };
    const files = archive.files();
    const isList = !moved && restore === undefined;
    return {
      ...(moved && { moved: moved.map(fileRow) }),
      ...(restore !== undefined && { restored: restore }),
      ...(isList && { files: files.map(fileRow) }),
      archive: { files: files.length, ...totalsOf(files) },
      events_db: log,
    };
  } finally {
    line.end();
  }
}

function planned(days: readonly ArchivableDay[]) {
  return { dry_run: true, ...totalsOf(days), days };
}

function depsOf({ backend, deps, config }: Session, archive: LogArchive): ArchiveLogDeps {
  const { eventStore, foldStore } = backend;
  const { clock, newId } = deps;
  const keys = sealKeysFrom(config);
  return { archive, eventStore, keys, newest: newestSeal(foldStore), clock, newId };
}

function totalsOf(parts: readonly { events: number; bytes: number }[]) {
  return {
    events: parts.reduce((sum, { events }) => sum + events, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function fileRow({ file, day, events, bytes, from, to }: ArchiveFile) {
  return { file, day, events, bytes, from, to };
}

function day(text: string): Date {
  const at = text.includes(":") ? undefined : parseMoment(text);
  if (at) return at;
  throw new InvalidArgumentError("It must be a date such as 2026-01-31.");
}
