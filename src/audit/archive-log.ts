// Moves closed days of clicks from the embedded log to its archive, once seals cover them.
import type {
  ArchivableDay,
  ArchiveFile,
  ArchiveProgress,
  LogArchive,
  SealRange,
} from "../event-store/log-archive.ts";
import { type Position, RevisionConflict } from "../event-store/port.ts";
import { DomainError } from "../runtime/errors.ts";
import { utcDate } from "../runtime/moment.ts";
import { readSeal } from "./seals/judge-seals.ts";
import { sealsBackwards } from "./seals/read-seals.ts";
import { Sealer, type SealerDeps } from "./seals/sealer.ts";

export class ArchiveRefused extends DomainError {
  override readonly code = "archive_refused";
}

export type ArchiveLogDeps = SealerDeps & { archive: LogArchive };

/** Yesterday's clicks may still wait for their commit, and today's for their day. */
const NEWEST_DAYS = 2;
const DAY_MS = 86_400_000;
/** The service may seal at the same moment. */
const SEAL_TRIES = 3;

/** Days before a date that the log has. @throws ArchiveRefused when the date is too late */
export function archivableDays({ archive, clock }: ArchiveLogDeps, before: Date): ArchivableDay[] {
  const today = Math.floor(clock().getTime() / DAY_MS) * DAY_MS;
  const latest = new Date(today - NEWEST_DAYS * DAY_MS);
  if (before > latest)
    throw new ArchiveRefused(
      `--before may be ${utcDate(latest)} at the latest, as later days are not closed`,
    );
  return archive.days(before);
}

/**
 * Moves them, the oldest first, and first what an interrupted run has left.
 * @throws ArchiveRefused, SealsUntrusted; ArchiveConflict when another process does the same
 */
export async function archiveLog(
  deps: ArchiveLogDeps,
  before: Date,
  onProgress?: (progress: ArchiveProgress) => void,
): Promise<ArchiveFile[]> {
  const { archive } = deps;
  const finished = await archive.finish(onProgress);
  const days = archivableDays(deps, before);
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return finished;
  await sealUpTo(deps, last.to);
  const seals = await sealedRanges(deps, first.from);
  const files: ArchiveFile[] = [];
  for (const day of days) files.push(await archive.archive(day, coverOf(seals, day), onProgress));
  return [...finished, ...files];
}

async function sealUpTo(deps: SealerDeps, position: Position): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const sealer = await Sealer.open(deps);
    if ((sealer.last?.position ?? "") >= position) return;
    try {
      while (await sealer.read());
      if (sealer.unsealed > 0) await sealer.seal();
      return;
    } catch (error) {
      if (!(error instanceof RevisionConflict) || tries === SEAL_TRIES) throw error;
    }
  }
}

/** `after` is exclusive, `position` inclusive. */
type Sealed = { number: number; after: Position; position: Position };

/** From the newest one to the one that covers a position. */
async function sealedRanges({ eventStore }: SealerDeps, downTo: Position): Promise<Sealed[]> {
  const found: Sealed[] = [];
  for await (const event of sealsBackwards(eventStore)) {
    const seal = readSeal(event);
    if (seal) found.push({ number: seal.number, after: seal.after, position: seal.position });
    if (seal && seal.after < downTo) break;
  }
  return found;
}

function coverOf(seals: readonly Sealed[], { from, to }: ArchivableDay): SealRange {
  const numbers = seals
    .filter(({ after, position }) => after < to && position >= from)
    .map(({ number }) => number);
  return { from: Math.min(...numbers), to: Math.max(...numbers) };
}
