// The processor of one projection: takes events after its checkpoint until they are committed, or stops at a fault.
import type { Position, RecordedEvent } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Checkpoint, Document, ReadStore } from "../../read-store/port.ts";
import { messageOf } from "../../runtime/errors.ts";
import { checkpointName, type Projection, partsCollection } from "../projection.ts";
import { isCorrection } from "./corrected-clicks.ts";
import { type DocumentCorrection, documentCorrection, type FoldedDocuments } from "./document-correction.ts";
import { between, type EventBatch } from "./event-batch.ts";
import { documentsOf, foldDocuments, type WaitingEvents } from "./fold.ts";

export type Fault = NonNullable<Checkpoint["fault"]>;

/** To be written in this order: a stored document is never ahead of its parts. */
export type DocumentWrites = readonly { collection: string; documents: readonly Document[] }[];

export class ProjectionProcessor {
  readonly projection: Projection;
  /** Of the last event taken; the empty text before the first. */
  position: Position = "";
  /** The first event that it can't fold: it takes none after it. */
  fault: Fault | undefined;
  /** Events passed and committed since the processor was created. */
  processed = 0;
  readonly #readStore: ReadStore;
  readonly #handled: ReadonlySet<string>;
  #committed: Position = "";
  #isUncommitted = false;
  /** The events taken since the last commit, page by page. */
  #taken: (readonly RecordedEvent[])[] = [];
  /** The events taken that change a document, by its key. */
  #waiting = new Map<string, StoredEvent[]>();

  constructor(projection: Projection, readStore: ReadStore) {
    this.projection = projection;
    this.#readStore = readStore;
    this.#handled = new Set(projection.handles);
  }

  get name(): string {
    return checkpointName(this.projection);
  }

  /** Whether there is anything to commit. */
  get isUncommitted(): boolean {
    return this.#isUncommitted;
  }

  /** Events taken since the last commit. */
  get taken(): number {
    return this.#taken.reduce((sum, { length }) => sum + length, 0);
  }

  checkpoint(): Checkpoint {
    const { position, fault } = this;
    return { position, ...(fault ? { fault } : {}) };
  }

  /** Continues from the committed checkpoint. Clears a fault, as another version of the program may fold the event. */
  async restart(): Promise<void> {
    this.position = (await this.#readStore.checkpoint(this.name))?.position ?? "";
    this.fault = undefined;
    this.#forget();
  }

  /** Takes the events after the present position, up to the first that it can't read. */
  take({ recorded, events, unreadable }: EventBatch): void {
    const after = this.position;
    const fresh = between(recorded, after, undefined);
    if (this.fault || fresh.length === 0) return;
    this.#pass(fresh);
    const unread = unreadable.find(
      (one) => one.recorded.position > after && this.#handles(one.recorded.type),
    );
    if (unread) this.#stopAt(unread.recorded, unread.error);
    for (const event of between(events, after, unread?.recorded.position)) {
      if (!this.#handled.has(event.type)) continue;
      try {
        this.#wait(event);
      } catch (error) {
        this.#stopAt(event, error);
        break;
      }
    }
  }

  /** Moves to a position up to which it has taken every event of its streams. */
  passTo(position: Position): void {
    if (this.fault || position <= this.position) return;
    this.position = position;
    this.#isUncommitted = true;
  }

  /**
   * To be filled with the link's clicks and given to `foldCorrection`. Undefined when the event changes nothing here:
   * withdrawals don't, or it was folded before.
   */
  correction({ position }: RecordedEvent): DocumentCorrection | undefined {
    if (this.fault || position <= this.position) return undefined;
    const { name } = this.projection.collection;
    const load = {
      documents: (ids: readonly string[]) => documentsOf(this.#readStore, name, ids),
      parts: (ids: readonly string[]) => documentsOf(this.#readStore, partsCollection(name), ids),
    };
    return documentCorrection(this.projection, load, position);
  }

  /** Takes the event of the correction, before which everything is committed. @throws what the read store throws */
  async foldCorrection(event: RecordedEvent, correction: DocumentCorrection): Promise<DocumentWrites> {
    this.#pass([event]);
    const error = correction.failure();
    if (error === undefined) return this.#changed(await correction.documents());
    this.#stopAt(event, error);
    return [];
  }

  /**
   * Folds the events that it has taken, as many documents at a time as the store reads best, in the order of their ids, so
   * that few pages of an index change. Where an event can't be folded, documents that were folded before it was met may
   * contain events after it.
   * @throws what the read store throws
   */
  async *fold(): AsyncGenerator<DocumentWrites, void> {
    const waiting = [...this.#waiting].sort(([a], [b]) => (a < b ? -1 : 1));
    const { readsAtATime } = this.#readStore;
    for (let at = 0; at < waiting.length; at += readsAtATime)
      yield this.#changed(await this.#foldSlice(waiting.slice(at, at + readsAtATime)));
  }

  /** To be called when the documents and the checkpoint are stored. */
  committed(): void {
    this.processed += this.taken;
    this.#forget();
  }

  async #foldSlice(slice: readonly WaitingEvents[]): Promise<FoldedDocuments> {
    for (;;) {
      const folded = await foldDocuments(this.projection, this.#readStore, this.#beforeFault(slice));
      if (!("error" in folded)) return folded;
      this.#stopAt(folded.event, folded.error);
    }
  }

  #beforeFault(slice: readonly WaitingEvents[]): readonly WaitingEvents[] {
    const end = this.fault?.position;
    if (end === undefined) return slice;
    return slice.map(([key, events]) => [key, between(events, "", end)]);
  }

  #changed({ documents, parts }: FoldedDocuments): DocumentWrites {
    const { name } = this.projection.collection;
    const changed = { collection: name, documents };
    return this.projection.parts
      ? [{ collection: partsCollection(name), documents: parts }, changed]
      : [changed];
  }

  #handles(type: string): boolean {
    const { recounts, withdraw } = this.projection;
    return this.#handled.has(type) || (isCorrection({ type }) && (recounts || withdraw) !== undefined);
  }

  #wait(event: StoredEvent): void {
    const key = this.projection.key(event);
    if (key === undefined) return;
    const events = this.#waiting.get(key);
    if (events) events.push(event);
    else this.#waiting.set(key, [event]);
  }

  #pass(events: readonly RecordedEvent[]): void {
    this.#taken.push(events);
    this.#isUncommitted = true;
    this.position = events.at(-1)?.position ?? this.#committed;
  }

  /** As if none had been taken from this event on. */
  #stopAt(recorded: RecordedEvent, error: unknown): void {
    const { position, stream, type } = recorded;
    this.fault = { position, stream, type, error: messageOf(error) };
    this.#taken = this.#taken
      .map((events) => between(events, "", position))
      .filter(({ length }) => length > 0);
    this.position = this.#taken.at(-1)?.at(-1)?.position ?? this.#committed;
  }

  #forget(): void {
    this.#committed = this.position;
    this.#isUncommitted = false;
    this.#taken = [];
    this.#waiting = new Map();
  }
}
