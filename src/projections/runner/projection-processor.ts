// The processor of one projection: folds event batches, writes documents and then the checkpoint, or stops at a fault.
import type { RecordedEvent } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import { messageOf } from "../../runtime/errors.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { DocumentFold } from "./fold.ts";

export type Fault = NonNullable<Checkpoint["fault"]>;

/** An event of a batch, parsed once for all projections; `event` is undefined for unknown types and unreadable events. */
export type ReadResult = { recorded: RecordedEvent; event: StoredEvent | undefined; error?: unknown };

export class ProjectionProcessor {
  readonly projection: Projection;
  /** Last position committed or folded; the empty text before the first event. */
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

  /** Parses a batch once for all projections; an unreadable event faults only the projections that handle its type. */
  static read(events: readonly RecordedEvent[]): ReadResult[] {
    return events.map((recorded) => {
      try {
        return { recorded, event: readEvent(recorded) };
      } catch (error) {
        return { recorded, event: undefined, error };
      }
    });
  }

  /** Continues from the committed checkpoint. Clears a fault, as another version of the program may fold the event. */
  async restart(): Promise<void> {
    this.#fold.clearCache();
    const checkpoint = await this.#readStore.checkpoint(this.name);
    this.position = checkpoint?.position ?? "";
    this.recordedAt = checkpoint?.recordedAt ?? "";
    this.fault = undefined;
  }

  /** Folds and commits the events after the present position. Returns the fault that stopped it, if any. */
  async advance(batch: readonly ReadResult[]): Promise<Fault | undefined> {
    const fresh =
      this.position === "" ? batch : batch.filter(({ recorded }) => recorded.position > this.position);
    if (fresh.length === 0) return undefined;
    const unreadable = fresh.findIndex(({ recorded, error }) => {
      return error !== undefined && this.#fold.handles(recorded.type);
    });
    const readable = unreadable === -1 ? fresh : fresh.slice(0, unreadable);
    const events = readable.flatMap(({ event }) => (event ? [event] : []));
    const { changed, failure } = await this.#fold.fold(events);

    const poison = failure
      ? readable.findIndex(({ event }) => event !== undefined && event === events[failure.index])
      : unreadable;
    const done = poison === -1 ? fresh : fresh.slice(0, poison);
    await this.#readStore.replace(this.projection.collection.name, changed);
    const faulty = poison === -1 ? undefined : fresh[poison];
    if (faulty) this.fault = faultAt(faulty.recorded, failure ? failure.error : faulty.error);
    await this.#save(done.at(-1)?.recorded);
    this.processed += done.length;
    return this.fault;
  }

  /** Called after the documents are written: after a crash in between, they skip the repeated events by `_position`. */
  async #save(last: RecordedEvent | undefined): Promise<void> {
    if (last) {
      this.position = last.position;
      this.recordedAt = last.recordedAt;
    }
    const { position, recordedAt, fault } = this;
    await this.#readStore.saveCheckpoint(
      this.name,
      fault ? { position, recordedAt, fault } : { position, recordedAt },
    );
  }
}

function faultAt({ position, stream, type }: RecordedEvent, error: unknown): Fault {
  return { position, stream, type, error: messageOf(error) };
}
