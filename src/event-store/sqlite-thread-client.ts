// Asks the log's thread: questions are pipelined, answers find their asker by id, a dead thread fails them all.
import { Worker } from "node:worker_threads";
import type { ErrorFields } from "../runtime/error-fields.ts";
import { StoreUnavailable } from "./port.ts";
import type { Answer, Answers, Asked, Question } from "./sqlite-thread.ts";

type Asker = { resolve(value: unknown): void; reject(error: Error): void };

export class SqliteThread {
  readonly #worker: Worker;
  readonly #askers = new Map<number, Asker>();
  #lastId = 0;
  #dead: StoreUnavailable | undefined;

  private constructor(file: string) {
    this.#worker = new Worker(new URL("./sqlite-thread.ts", import.meta.url), {
      name: "event-store",
      workerData: { file },
      execArgv: [],
    });
    this.#worker.on("message", (answer: Answer) => this.#settle(answer));
    this.#worker.on("error", (cause) => this.#die(`The event store's thread failed: ${cause}`, cause));
    this.#worker.on("exit", () => this.#die("The event store's thread has ended"));
  }

  /** @throws StoreUnavailable when the file can't be opened */
  static async open(file: string): Promise<SqliteThread> {
    const thread = new SqliteThread(file);
    await thread.#answerTo(0);
    return thread;
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  /** @throws StoreUnavailable when SQLite failed, or the thread died before it answered */
  async ask<Q extends Question>(question: Q): Promise<Answers[Q["op"]]> {
    if (this.#dead) throw this.#dead;
    this.#lastId += 1;
    const answer = this.#answerTo(this.#lastId);
    this.#worker.postMessage({ ...question, id: this.#lastId } satisfies Asked);
    return (await answer) as Answers[Q["op"]];
  }

  /** Ends the thread at once, whatever it is doing; what was acknowledged is on the disk. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #answerTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // Only a question on its way keeps the process alive.
      if (this.#askers.size === 0) this.#worker.ref();
      this.#askers.set(id, { resolve, reject });
    });
  }

  #settle(answer: Answer): void {
    const asker = this.#askers.get(answer.id);
    this.#askers.delete(answer.id);
    if (this.#askers.size === 0) this.#worker.unref();
    if ("failure" in answer) asker?.reject(failed(answer.failure));
    else if ("json" in answer) asker?.resolve(JSON.parse(answer.json));
    else asker?.resolve(answer.value);
  }

  #die(message: string, cause?: unknown): void {
    this.#dead ??= new StoreUnavailable(message, { cause });
    for (const asker of this.#askers.values()) asker.reject(this.#dead);
    this.#askers.clear();
  }
}

function failed(cause: ErrorFields): StoreUnavailable {
  return new StoreUnavailable(`${cause.type}: ${cause.message}`, { cause });
}
