// Appends to the event log of one SQLite file: transactions, expected revisions and idempotency.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { BLOCK_ON_LOCK, GroupCommit } from "../../connections/sqlite.ts";
import { categoryOf } from "../categories.ts";
import type { ExpectedRevision, NewEvent } from "../port.ts";
import { type AppendRow, compressed, jsonOf } from "./bodies.ts";
import { DICTIONARY, dictionariesOf } from "./log-file.ts";
import { COLUMNS, LogFileReader, numberOf } from "./read-log.ts";

/** `events`: their ids, and the JSON array of all. */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  recordedAt: string;
  ids: readonly string[];
  json: string;
};

/** `actual`: of a conflict, which is a value, not an exception: it is sent between threads, and does not roll back a group of appends. */
export type AppendOutcome = { revision: number; position: number } | { actual: number | "none" };

type Body = Pick<AppendRow, "dictionary" | "body">;

/** Whose bodies are compressed: large numbers of events alike, read in bulk. */
const COMPRESSED = "clicks";

/** Serialised here, outside of the log's transaction. @throws TypeError when data or metadata are not plain JSON */
export function appendRequest(
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
  recordedAt: string,
): AppendRequest {
  return { stream, expected, recordedAt, ids: events.map(({ id }) => id), json: jsonOf(events) };
}

export class LogFileWriter {
  readonly #db: DatabaseSync;
  readonly #reader: LogFileReader;
  readonly #commits: GroupCommit;
  readonly #dictionary: Uint8Array | undefined;
  readonly #insert: StatementSync;
  readonly #last: StatementSync;

  /** @throws SQLite's error for a file that isn't as log-file.ts makes it */
  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#reader = new LogFileReader(db);
    db.exec(BLOCK_ON_LOCK);
    this.#commits = new GroupCommit(db);
    this.#dictionary = dictionariesOf(db).get(DICTIONARY);
    this.#insert = db.prepare(`INSERT INTO appends (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#last = db.prepare("SELECT revision FROM appends WHERE stream = ? ORDER BY revision DESC LIMIT 1");
  }

  /**
   * Appends that arrive in one turn of the event loop, or while another commit runs, share a transaction and so an fsync;
   * each succeeds or conflicts on its own. SQLite serialises write transactions, so commit order equals position order and
   * readers never miss a position. `lockWithinMs`: how long it waits for another process's.
   * @throws StoreUnavailable
   */
  async append(request: AppendRequest, lockWithinMs?: number): Promise<AppendOutcome> {
    const body = this.#bodyOf(request);
    return await this.#commits.write(() => this.#appended(request, body), lockWithinMs);
  }

  /** Pending appends are stored first. */
  async close(): Promise<void> {
    this.#commits.close();
    this.#db.close();
  }

  #bodyOf({ stream, json }: AppendRequest): Body {
    if (categoryOf(stream) !== COMPRESSED || !this.#dictionary) return { dictionary: null, body: json };
    return { dictionary: DICTIONARY, body: compressed(json, this.#dictionary) };
  }

  #appended({ stream, expected, recordedAt, ids }: AppendRequest, { dictionary, body }: Body): AppendOutcome {
    const last = this.#lastRevision(stream);
    const before = expected === "none" ? -1 : expected;
    const revision = before + ids.length;
    if (last !== before) {
      const again = { from: before + 1, limit: ids.length };
      const there = last < revision ? [] : this.#reader.read(stream, again);
      const isRepeated = there.length > 0 && ids.every((id, n) => there[n]?.id === id);
      if (isRepeated) return { revision, position: Number(there.at(-1)?.position) };
      return { actual: last < 0 ? "none" : last };
    }
    const position = numberOf(this.#reader.head()) + ids.length;
    this.#insert.run(position, stream, revision, ids.length, recordedAt, dictionary, body);
    return { revision, position };
  }

  #lastRevision(stream: string): number {
    return (this.#last.get(stream) as { revision: number } | undefined)?.revision ?? -1;
  }
}
