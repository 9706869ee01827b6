// One transaction for several lookups, as each of its own locks and unlocks the file: two thirds of the time of a lookup.
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Of a connection that doesn't write while it is open. */
export class ReadTransaction {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #isOpen = false;

  constructor(db: DatabaseSync) {
    this.#begin = db.prepare("BEGIN");
    this.#commit = db.prepare("COMMIT");
  }

  /** Opened if it isn't, and closed afterwards. */
  run<T>(read: () => T): T {
    this.#open();
    try {
      return read();
    } finally {
      this.close();
    }
  }

  /** Opened if it isn't, until no promise is left that can settle: before the event loop goes on. */
  openForThisTask(): void {
    if (this.#isOpen) return;
    this.#open();
    process.nextTick(() => this.close());
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#commit.run();
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#begin.run();
    this.#isOpen = true;
  }
}
