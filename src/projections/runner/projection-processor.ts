// The processor of one projection: folds event batches after its checkpoint, or stops at a fault.
import type { RecordedEvent } from "../../event-store/port.ts";
import type { Checkpoint, Document, ReadStore } from "../../read-store/port.ts";
import { messageOf } from "../../runtime/errors.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { between, type EventBatch } from "./event-batch.ts";
import { DocumentFold } from "./fold.ts";

export type Fault = NonNullable<Checkpoint["fault"]>;

/** What a batch has changed. `events`: how many of the batch it has passed. */
export type FoldedBatch = { documents: readonly Document[]; checkpoint: Checkpoint; events: number };

export class ProjectionProcessor {
  readonly projection: Projection;
  /** Last position committed; the empty text before the first event. */
  position = "";
  recordedAt = "";
  fault: Fault | undefined;
  /** Events passed since the processor was created. */
  processed = 0;
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

  /** Continues from the committed checkpoint. Clears a fault, as another version of the program may fold the event. */
  async restart(): Promise<void> {
    this.#fold.clearCache();
    const checkpoint = await this.#readStore.checkpoint(this.name);
    this.position = checkpoint?.position ?? "";
    this.recordedAt = checkpoint?.recordedAt ?? "";
    this.fault = undefined;
  }

  /**
   * Folds the events after the present position, up to the first that it can't fold. The caller commits the result and
   * calls `committed`, or else `restart`. Undefined when the batch has no later event. @throws what the read store throws
   */
  async fold({ recorded, events, unreadable }: EventBatch): Promise<FoldedBatch | undefined> {
    const fresh = between(recorded, this.position, undefined);
    if (fresh.length === 0) return undefined;
    let poison: { recorded: RecordedEvent; error: unknown } | undefined = unreadable.find(
      (one) => one.recorded.position > this.position && this.#fold.handles(one.recorded.type),
    );
    const readable = between(events, this.position, poison?.recorded.position);
    const { changed, failure } = await this.#fold.fold(readable);
    const failed = failure && readable[failure.index];
    if (failed) poison = { recorded: failed, error: failure.error };
    const done = poison ? between(fresh, this.position, poison.recorded.position) : fresh;
    const { position, recordedAt } = done.at(-1) ?? this;
    const checkpoint = { position, recordedAt, ...(poison ? { fault: faultAt(poison) } : {}) };
    return { documents: changed, checkpoint, events: done.length };
  }

  committed({ checkpoint, events }: FoldedBatch): void {
    this.position = checkpoint.position;
    this.recordedAt = checkpoint.recordedAt;
    this.fault = checkpoint.fault;
    this.processed += events;
  }
}

function faultAt({ recorded, error }: { recorded: RecordedEvent; error: unknown }): Fault {
  const { position, stream, type } = recorded;
  return { position, stream, type, error: messageOf(error) };
}
