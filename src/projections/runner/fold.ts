// Folds a batch of events into the documents of one projection in memory; skips events that a document contains already.
import type { Position } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ProjectionCommit, ReadStore } from "../../read-store/port.ts";
import { type Fields, type Parts, type Projection, partsCollection } from "../projection.ts";
import { isCorrection } from "./corrected-clicks.ts";
import {
  type CorrectedDocuments,
  type DocumentCorrection,
  documentCorrection,
  foldedSoFar,
} from "./document-correction.ts";
import { type HeldDocument, HeldDocuments } from "./held-documents.ts";

/** Index of the event at which the projection's own code threw. */
export type FoldFailure = { index: number; error: unknown };

/** Holds what it folds until it is committed; must be cleared whenever a write may have failed. */
export class DocumentFold {
  readonly #projection: Projection;
  readonly #handled: ReadonlySet<string>;
  readonly #documents: HeldDocuments;
  readonly #parts: HeldDocuments;
  readonly #changeParts: Parts;

  constructor(projection: Projection, readStore: Pick<ReadStore, "getMany" | "find">) {
    const { name } = projection.collection;
    this.#projection = projection;
    this.#handled = new Set(projection.handles);
    this.#documents = new HeldDocuments(name, readStore);
    this.#parts = new HeldDocuments(partsCollection(name), readStore);
    this.#changeParts = partsIn(this.#parts);
  }

  handles(type: string): boolean {
    const { recounts, withdraw } = this.#projection;
    return this.#handled.has(type) || (isCorrection({ type }) && (recounts || withdraw) !== undefined);
  }

  /** Undefined when withdrawals change nothing in this projection. `position`: of the event. */
  correction(position: Position): DocumentCorrection | undefined {
    const load = {
      documents: (ids: readonly string[]) => this.#documents.documents(ids),
      parts: (ids: readonly string[]) => this.#parts.documents(ids),
    };
    return documentCorrection(this.#projection, load, position);
  }

  /** To be committed with the others that changed. */
  put({ documents, parts }: CorrectedDocuments): void {
    for (const document of documents) this.#documents.change(this.#documents.hold(document._id), document);
    for (const part of parts) this.#parts.change(this.#parts.hold(part._id), part);
  }

  /**
   * What changed since the last commit, to be written in this order: a stored document is never ahead of its parts. Those
   * may be ahead of it after a crash; then they contain events that it is folded with again.
   */
  changed(): ProjectionCommit["changed"] {
    const { name } = this.#projection.collection;
    const parts = { collection: partsCollection(name), documents: this.#parts.changed() };
    const whole = { collection: name, documents: this.#documents.changed() };
    return parts.documents.length === 0 ? [whole] : [parts, whole];
  }

  /** Estimated size of the changed documents in memory. */
  get changedBytes(): number {
    return this.#documents.changedBytes + this.#parts.changedBytes;
  }

  /** To be called when what changed is stored. */
  committed(): void {
    this.#documents.committed();
    this.#parts.committed();
  }

  /** Continues from the stored documents. */
  clear(): void {
    this.#documents.clear();
    this.#parts.clear();
  }

  /** As `clear`, when no event has been folded. @throws what the read store throws */
  async begin(): Promise<void> {
    await this.#documents.begin();
    await this.#parts.begin();
  }

  /**
   * Folds events that follow those folded before. A failure of the projection's own code is returned: the changed
   * documents may then be half changed, and `clear` must be called. @throws what the read store throws
   */
  async fold(events: readonly StoredEvent[]): Promise<FoldFailure | undefined> {
    const { touched, failure: unkeyed } = this.#touchedBy(events);
    await this.#documents.load(touched);
    await this.#loadParts(touched);
    let failure = unkeyed;
    for (const held of touched) {
      const failed = this.#foldWaiting(held);
      if (!failed) continue;
      const index = events.indexOf(failed.event);
      if (!failure || index < failure.index) failure = { index, error: failed.error };
    }
    return failure;
  }

  /** The documents that the events may change, with those events. */
  #touchedBy(events: readonly StoredEvent[]): { touched: HeldDocument[]; failure?: FoldFailure } {
    const touched: HeldDocument[] = [];
    for (const [index, event] of events.entries()) {
      if (!this.#handled.has(event.type)) continue;
      try {
        const key = this.#projection.key(event);
        if (key === undefined) continue;
        const held = this.#documents.hold(key);
        if (held.waiting) held.waiting.push(event);
        else {
          held.waiting = [event];
          touched.push(held);
        }
      } catch (error) {
        return { touched, failure: { index, error } };
      }
    }
    return { touched };
  }

  /** Those that the events may change: none for nearly all documents. */
  async #loadParts(touched: readonly HeldDocument[]): Promise<void> {
    const { parts } = this.#projection;
    if (!parts) return;
    const ids = new Set<string>();
    for (const { document, waiting = [] } of touched) {
      const [first] = waiting;
      const fields = foldedSoFar(document) ?? (first && this.#projection.empty(first));
      if (!fields || waiting.every((event) => parts.isWithin(fields, event))) continue;
      for (const event of waiting) for (const id of parts.idsOf(event)) ids.add(id);
    }
    await this.#parts.load(Array.from(ids, (id) => this.#parts.hold(id)));
  }

  /** Folds the events that the document doesn't contain yet. */
  #foldWaiting(held: HeldDocument): { event: StoredEvent; error: unknown } | undefined {
    const { id, document, waiting = [] } = held;
    held.waiting = undefined;
    const contained = document?._position ?? "";
    let fields: Fields<Document> | undefined = foldedSoFar(document);
    let position: string | undefined;
    for (const event of waiting) {
      if (event.position <= contained) continue;
      try {
        fields = this.#projection.evolve(fields ?? this.#projection.empty(event), event, this.#changeParts);
      } catch (error) {
        return { event, error };
      }
      position = event.position;
    }
    if (position === undefined) {
      this.#documents.release(held);
      return undefined;
    }
    const next = fields as Document;
    next._id = id;
    next._position = position;
    this.#documents.change(held, next);
    return undefined;
  }
}

/** Of parts that are loaded, or of whose content nothing is kept. */
function partsIn(parts: HeldDocuments): Parts {
  return {
    change(id, position, evolve) {
      const held = parts.hold(id);
      // Stored by a commit whose documents were not.
      if (held.document && held.document._position >= position) return;
      const next = evolve(foldedSoFar(held.document) as Parameters<typeof evolve>[0]);
      parts.change(held, Object.assign(next, { _id: id, _position: position }));
    },
  };
}
