// The archive of the SQLite log: moves old events to files; in their place the log keeps where they lie.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "../../../connections/sqlite.ts";
import {
  type ArchivableDay,
  ArchiveConflict,
  type ArchiveFile,
  type ArchiveProgress,
  type LogArchive,
  type LogProblem,
  type LogSize,
  type SealRange,
} from "../../log-archive.ts";
import { createBatchTables } from "../batch-schema.ts";
import { BatchWriter } from "../batch-writer.ts";
import { openLogFile } from "../log.ts";
import { positionText } from "../positions.ts";
import { joinedParts } from "../stored-batch.ts";
import { removeAbandoned } from "./archive-file.ts";
import { archiveFolder, makeArchiveFolder } from "./archive-folder.ts";
import { type ArchiveRow, ArchiveTable, archiveFileOf, type ListedBatch } from "./archive-table.ts";
import { blockReference } from "./archived-body.ts";
import { archiveProblems } from "./check-archives.ts";
import { moveToFile, moveToLog } from "./move-batches.ts";
import { daysOf, type WrittenArchive, writeArchive } from "./write-archive.ts";

export type LogArchiveDeps = {
  sleep: (ms: number) => Promise<void>;
  clock: () => Date;
  /** Of the streams whose events are moved; default `clicks`. */
  category?: string;
};

type OnProgress = ((progress: ArchiveProgress) => void) | undefined;

/** @throws SQLite's error when the log can't be opened */
export function openLogArchive(log: string, deps: LogArchiveDeps, { readOnly = false } = {}): LogArchive {
  return new SqliteLogArchive(log, deps, readOnly);
}

class SqliteLogArchive implements LogArchive {
  readonly #deps: LogArchiveDeps;
  readonly #category: string;
  readonly #folder: string;
  readonly #db: DatabaseSync;
  readonly #writer: BatchWriter;
  readonly #table: ArchiveTable;

  constructor(log: string, deps: LogArchiveDeps, readOnly: boolean) {
    this.#deps = deps;
    this.#category = deps.category ?? "clicks";
    this.#folder = archiveFolder(log);
    this.#db = openLogFile(log, { readOnly });
    if (!readOnly) inTransaction(this.#db, () => createBatchTables(this.#db));
    this.#writer = new BatchWriter(this.#db);
    this.#table = new ArchiveTable(this.#db);
  }

  days(before: Date): ArchivableDay[] {
    const days = daysOf(this.#table.unarchived(this.#category), before);
    return days.map(({ day, first, last, events, bytes }) => {
      const [run] = joinedParts(this.#writer.between({ from: first, to: first })).runs;
      return { day, from: positionText(run?.position ?? first), to: positionText(last), events, bytes };
    });
  }

  async archive(day: ArchivableDay, seals: SealRange, onProgress?: OnProgress): Promise<ArchiveFile> {
    const [from, to] = [Number(day.from), Number(day.to)];
    const batches = this.#table.listed(from, to);
    if (eventsOf(batches, this.#category) !== day.events) throw changedMeanwhile(day.day);
    const file = `${this.#category}-${day.day}-${from}-${to}.zst`;
    const source = { category: this.#category, day: day.day, batches, seals, log: this.#writer };
    const { writer, ...written } = await this.#inSteps(
      writeArchive(join(this.#folder, file), source),
      (events) => onProgress?.({ step: "written", file, events }),
    );
    const { from: first_position, to: last_position, ...size } = written;
    const places = { category: this.#category, day: day.day, first_position, last_position };
    const row: ArchiveRow = { file, ...places, ...size, moved: 0 };
    this.#record(row, writer, batches, onProgress);
    onProgress?.({ step: "recorded", file, events: row.events });
    await this.#move(row, onProgress);
    return archiveFileOf(row);
  }

  async finish(onProgress?: OnProgress): Promise<ArchiveFile[]> {
    makeArchiveFolder(this.#folder);
    removeAbandoned(this.#folder, this.#deps.clock());
    const unfinished = this.#table.all().filter(({ moved }) => moved === 0);
    for (const row of unfinished) await this.#move(row, onProgress);
    return unfinished.map(archiveFileOf);
  }

  files(): ArchiveFile[] {
    return this.#table.all().map(archiveFileOf);
  }

  async restore(file: string, onProgress?: (events: number) => void): Promise<void> {
    if (!this.#table.has(file)) throw new ArchiveConflict(`The log has no archive file ${file}`);
    await this.#inSteps(moveToLog(this.#log, this.#positionsIn(file)), onProgress);
    inTransaction(this.#db, () => {
      if (this.#positionsIn(file).length > 0)
        throw new ArchiveConflict(`Another process moves events to archive/${file} meanwhile: try again`);
      this.#table.delete(file);
    });
    rmSync(join(this.#folder, file), { force: true });
  }

  async problems(): Promise<LogProblem[]> {
    const found: LogProblem[] = [];
    for (const some of archiveProblems(this.#folder, this.#table)) {
      found.push(...some);
      // Other work of the thread may go on between two files.
      await this.#deps.sleep(0);
    }
    return found;
  }

  size(): LogSize {
    const pragma = (name: string) => Number(this.#db.prepare(`PRAGMA ${name}`).get()?.[name]);
    const page = pragma("page_size");
    return { bytes: page * pragma("page_count"), freeBytes: page * pragma("freelist_count") };
  }

  vacuum(): void {
    this.#db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  }

  close(): void {
    this.#db.close();
  }

  get #log() {
    return { db: this.#db, writer: this.#writer, folder: this.#folder, table: this.#table };
  }

  /** Of the last events of the batches that lie in a file. */
  #positionsIn(file: string): number[] {
    const batches = this.#table.archived().filter(({ body }) => blockReference(body).file === file);
    return batches.map(({ last_position }) => last_position);
  }

  /**
   * From here on the log leaves these batches as they are (batch-tail.ts). The file gets its name under the write lock, so
   * that of two processes that archive the same day one is refused before its file replaces the other's.
   */
  #record(
    row: ArchiveRow,
    writer: WrittenArchive["writer"],
    batches: readonly ListedBatch[],
    onProgress: OnProgress,
  ): void {
    const { file, day, first_position, last_position, events } = row;
    try {
      inTransaction(this.#db, () => {
        const listed = this.#table.listed(first_position, last_position);
        if (JSON.stringify(listed) !== JSON.stringify(batches)) throw changedMeanwhile(day);
        this.#table.insert(row);
        writer.publish();
        onProgress?.({ step: "renamed", file, events });
      });
    } catch (error) {
      writer.discard();
      throw error;
    }
  }

  async #move(row: ArchiveRow, onProgress: OnProgress): Promise<void> {
    const { file } = row;
    await this.#inSteps(moveToFile(this.#log, row), (events) =>
      onProgress?.({ step: "moved", file, events }),
    );
    inTransaction(this.#db, () => this.#table.setMoved(file));
  }

  /** Rests after each step for as long as it took, because the service works on the same disk and cores. */
  async #inSteps<T>(
    steps: Generator<number, T>,
    onStep: (events: number) => void = () => undefined,
  ): Promise<T> {
    for (;;) {
      const started = performance.now();
      const { value, done } = steps.next();
      if (done) return value;
      onStep(value);
      await this.#deps.sleep(performance.now() - started);
    }
  }
}

function eventsOf(batches: readonly ListedBatch[], category: string): number {
  return batches.reduce((sum, batch) => sum + (batch.category === category ? batch.count : 0), 0);
}

function changedMeanwhile(day: string): ArchiveConflict {
  return new ArchiveConflict(`Another process has archived or merged events of ${day} meanwhile: try again`);
}
