// The processor of one projection: folds event batches after its checkpoint, or stops at a fault.
import type { RecordedEvent } from "../../event-store/port.ts";
import type { Checkpoint, ProjectionCommit, ReadStore } from "../../read-store/port.ts";
import { messageOf } from "../../runtime/errors.ts";
import { checkpointName, type Projection } from "../projection.ts";
import type { DocumentCorrection } from "./document-correction.ts";
import { between, type EventBatch } from "./event-batch.ts";
import { DocumentFold, type FoldFailure } from "./fold.ts";

export type Fault = NonNullable<Checkpoint["fault"]>;

export class ProjectionProcessor {
  readonly projection: Projection;
  /** Last position folded; the empty text before the first event. */
  position = "";
  recordedAt = "";
  fault: Fault | undefined;
  /** Events passed and committed since the processor was created. */
  processed = 0;
  /** Events passed since the last commit; undefined when there is nothing to commit. */
  #uncommitted: number | undefined;
  readonly #readStore: ReadStore;
  readonly #fold: DocumentFold;

  constructor(projection: Projection, readStore: ReadStore) {
    this.projection = projection;
    this.#readStore = readStore;
    this.#fold = new DocumentFold(projection, readStore);
  }

  get name(): string {
    return checkpointName(this.projection);
  }

  get faulted(): boolean {
    return this.fault !== undefined;
  }

  /** Whether there is anything to commit: `changed` documents, and the `checkpoint` after them. */
  get isUncommitted(): boolean {
    return this.#uncommitted !== undefined;
  }

  changed(): ProjectionCommit["changed"] {
    return this.#fold.changed();
  }

  checkpoint(): Checkpoint {
    const { position, recordedAt, fault } = this;
    return { position, recordedAt, ...(fault ? { fault } : {}) };
  }

  /** Estimated size of the uncommitted documents in memory. */
  get uncommittedBytes(): number {
    return this.#fold.changedBytes;
  }

  /** Continues from the committed checkpoint. Clears a fault, as another version of the program may fold the event. */
  async restart(): Promise<void> {
    this.#uncommitted = undefined;
    const checkpoint = await this.#readStore.checkpoint(this.name);
    if (checkpoint) this.#fold.clear();
    else await this.#fold.begin();
    this.position = checkpoint?.position ?? "";
    this.recordedAt = checkpoint?.recordedAt ?? "";
    this.fault = undefined;
  }

  /**
   * To be filled with the link's clicks and given to `fold` with the batch that is the event alone. Undefined when the
   * event changes nothing here: withdrawals don't, or it was folded before.
   */
  correction(event: RecordedEvent): DocumentCorrection | undefined {
    if (this.faulted || event.position <= this.position) return undefined;
    return this.#fold.correction(event.position);
  }

  /**
   * Folds the events after the present position, up to the first that it can't fold. False when documents of batches that
   * are not committed may be half changed by such an event: then the caller must call `restart`, and commit each batch.
   * @throws what the read store throws
   */
  async fold(
    { recorded, events, unreadable }: EventBatch,
    correction?: DocumentCorrection,
  ): Promise<boolean> {
    const fresh = between(recorded, this.position, undefined);
    if (fresh.length === 0) return true;
    let poison: { recorded: RecordedEvent; error: unknown } | undefined = unreadable.find(
      (one) => one.recorded.position > this.position && this.#fold.handles(one.recorded.type),
    );
    const readable = between(events, this.position, poison?.recorded.position);
    const failure = correction ? await this.#correct(correction) : await this.#fold.fold(readable);
    const failed = failure && readable[failure.index];
    if (failed) {
      if (this.#uncommitted !== undefined) return false;
      poison = { recorded: failed, error: failure.error };
      this.#fold.clear();
      await this.#fold.fold(readable.slice(0, failure.index));
    }
    const done = poison ? between(fresh, this.position, poison.recorded.position) : fresh;
    const { position, recordedAt } = done.at(-1) ?? this;
    this.position = position;
    this.recordedAt = recordedAt;
    this.fault = poison && faultAt(poison);
    this.#uncommitted = (this.#uncommitted ?? 0) + done.length;
    return true;
  }

  async #correct(correction: DocumentCorrection): Promise<FoldFailure | undefined> {
    const error = correction.failure();
    if (error !== undefined) return { index: 0, error };
    this.#fold.put(await correction.documents());
    return undefined;
  }

  /** To be called when the documents and the checkpoint are stored. */
  committed(): void {
    this.#fold.committed();
    this.processed += this.#uncommitted ?? 0;
    this.#uncommitted = undefined;
  }
}

function faultAt({ recorded, error }: { recorded: RecordedEvent; error: unknown }): Fault {
  const { position, stream, type } = recorded;
  return { position, stream, type, error: messageOf(error) };
}
