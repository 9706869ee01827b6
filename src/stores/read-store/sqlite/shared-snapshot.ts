// One read transaction for the lookups of one task of the event loop, as each of its own locks and unlocks the file.
import type { DatabaseSync } from "node:sqlite";

/** Of a connection, which must end it before it writes. */
export class SharedSnapshot {
  readonly #db: DatabaseSync;
  #isOpen = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Begins it if it isn't open. It ends when no settled promise is left to go on, before the event loop turns to other work. */
  begin(): void {
    if (this.#isOpen) return;
    this.#db.exec("BEGIN");
    this.#isOpen = true;
    process.nextTick(() => this.end());
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // After a page that can't be read SQLite has ended it already.
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }
}
