// The processor of one projection: takes events after its checkpoint until they are committed, and sets aside those that it
// can't fold.

import { isEventType, type StoredEvent } from "../../events/catalogue.ts";
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import type { AwaitedEvent, Checkpoint, Document, ReadStore } from "../../stores/read-store/port.ts";
import {
  type SetAsideEvent,
  SetAsideNotes,
  setAsideCollection,
  setAsideEvent,
} from "../../stores/read-store/set-aside.ts";
import { checkpointName, type Projection, partsCollection, readsStream } from "../projection.ts";
import { isCorrection } from "./corrected-clicks.ts";
import { type DocumentCorrection, documentCorrection, type FoldedDocuments } from "./document-correction.ts";
import { between, type EventBatch } from "./event-batch.ts";
import { documentsOf, foldDocuments } from "./fold.ts";

/** To be written in this order: a stored document is never ahead of its parts, nor of the notes of what it lacks. */
export type DocumentWrites = readonly { collection: string; documents: readonly Document[] }[];

export class ProjectionProcessor {
  readonly projection: Projection;
  /** Of the last event taken; the empty text before the first. */
  position: Position = "";
  /** The first event of a newer program: it takes none after it. */
  waitsFor: AwaitedEvent | undefined;
  /** Events passed and committed since the processor was created. */
  processed = 0;
  /** Events taken since the last commit. */
  taken = 0;
  readonly #readStore: ReadStore;
  readonly #handled: ReadonlySet<string>;
  readonly #notes = new SetAsideNotes();
  /** Since the last commit. */
  #noted: SetAsideEvent[] = [];
  #isUncommitted = false;
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

  checkpoint(): Checkpoint {
    const { position, waitsFor } = this;
    return { position, ...(waitsFor && { waitsFor }), ...this.#notes.counted() };
  }

  /** Continues from the committed checkpoint. */
  async restart(): Promise<void> {
    const checkpoint = await this.#readStore.checkpoint(this.name);
    await this.#notes.restart(this.#readStore, this.#notesCollection, checkpoint);
    this.position = checkpoint?.position ?? "";
    this.waitsFor = undefined;
    this.#forget();
  }

  /** Takes the events after the present position, up to the first of a newer program. */
  take({ recorded, events, unreadable, newer }: EventBatch): void {
    if (this.waitsFor) return;
    const after = this.position;
    const awaited = newer.find((one) => one.position > after && this.#handles(one.type));
    const before = awaited?.position;
    this.#pass(between(recorded, after, before));
    if (awaited) this.#waitFor(awaited);
    for (const event of between(unreadable, after, before)) if (this.#concerns(event)) this.#note(event);
    for (const event of between(events, after, before)) {
      if (!this.#handled.has(event.type)) continue;
      try {
        this.#wait(event);
      } catch (error) {
        this.#setAside(event, error);
      }
    }
  }

  /** Moves to a position up to which it has taken every event of its streams. */
  passTo(position: Position): void {
    if (this.waitsFor || position <= this.position) return;
    this.position = position;
    this.#isUncommitted = true;
  }

  /**
   * To be filled with the link's clicks and given to `foldCorrection`. Undefined when the event changes nothing here:
   * withdrawals don't, or it was folded before.
   */
  correction({ position }: RecordedEvent): DocumentCorrection | undefined {
    if (this.waitsFor || position <= this.position) return undefined;
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
    if (error === undefined) return this.#writes(await correction.documents());
    this.#setAside(event, error);
    return this.#writes({ documents: [], parts: [] });
  }

  /**
   * Folds the events that it has taken, as many documents at a time as the store reads best, in the order of their ids, so
   * that few pages of an index change. @throws what the read store throws
   */
  async *fold(): AsyncGenerator<DocumentWrites, void> {
    const waiting = [...this.#waiting].sort(([a], [b]) => (a < b ? -1 : 1));
    const { readsAtATime } = this.#readStore;
    const onRefused = (event: StoredEvent, error: unknown) => this.#setAside(event, error);
    for (let at = 0; at < waiting.length; at += readsAtATime) {
      const slice = waiting.slice(at, at + readsAtATime);
      yield this.#writes(await foldDocuments(this.projection, this.#readStore, slice, onRefused));
    }
    if (waiting.length === 0) yield this.#writes({ documents: [], parts: [] });
  }

  /** To be called when the documents and the checkpoint are stored. Returns what was set aside since it was last called. */
  committed(): readonly SetAsideEvent[] {
    this.processed += this.taken;
    const noted = this.#noted;
    this.#forget();
    return noted;
  }

  #writes({ documents, parts }: FoldedDocuments): DocumentWrites {
    const { name } = this.projection.collection;
    const notes = { collection: this.#notesCollection, documents: this.#notes.drain() };
    const changed = { collection: name, documents };
    return this.projection.parts
      ? [notes, { collection: partsCollection(name), documents: parts }, changed]
      : [notes, changed];
  }

  get #notesCollection(): string {
    return setAsideCollection(this.projection.collection.name);
  }

  #handles(type: string): boolean {
    const { recounts, withdraw } = this.projection;
    return this.#handled.has(type) || (isCorrection({ type }) && (recounts || withdraw) !== undefined);
  }

  /** Whose an event is that has no type that there is can't be told but by its stream. */
  #concerns({ type, stream }: Pick<RecordedEvent, "type" | "stream">): boolean {
    return isEventType(type) ? this.#handles(type) : readsStream(this.projection, stream);
  }

  #wait(event: StoredEvent): void {
    const key = this.projection.key(event);
    if (key === undefined) return;
    const events = this.#waiting.get(key);
    if (events) events.push(event);
    else this.#waiting.set(key, [event]);
  }

  #pass(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.taken += events.length;
    this.#isUncommitted = true;
    this.position = last.position;
  }

  #waitFor({ position, stream, revision, type }: RecordedEvent): void {
    this.waitsFor = { position, stream, revision, type };
    this.#isUncommitted = true;
  }

  #setAside(event: RecordedEvent, error: unknown): void {
    this.#note(setAsideEvent(event, error));
  }

  #note(event: SetAsideEvent): void {
    if (this.#notes.add(event)) this.#noted.push(event);
  }

  #forget(): void {
    this.#isUncommitted = false;
    this.taken = 0;
    this.#waiting = new Map();
    this.#noted = [];
  }
}
