// Folds a batch of events into the documents of one projection in memory; skips events that a document contains already.
import type { Position } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ProjectionCommit, ReadStore } from "../../read-store/port.ts";
import { type Fields, type Parts, type Projection, partsCollection } from "../projection.ts";
import { sharedTexts } from "../shared-texts.ts";
import { isCorrection } from "./corrected-clicks.ts";
import {
  type CorrectedDocuments,
  type DocumentCorrection,
  documentCorrection,
  foldedSoFar,
} from "./document-correction.ts";
import { HeldDocuments } from "./held-documents.ts";

/** Index of the event at which the projection's own code threw. */
export type FoldFailure = { index: number; error: unknown };

type Stored = ReadonlyMap<string, Document>;

/** Holds what it folds until it is committed; must be cleared whenever a write may have failed. */
export class DocumentFold {
  readonly #projection: Projection;
  readonly #handled: ReadonlySet<string>;
  readonly #documents: HeldDocuments;
  readonly #parts: HeldDocuments;
  readonly #shared = sharedTexts();

  constructor(projection: Projection, readStore: Pick<ReadStore, "getMany">) {
    const { name } = projection.collection;
    this.#projection = projection;
    this.#handled = new Set(projection.handles);
    this.#documents = new HeldDocuments(name, readStore);
    this.#parts = new HeldDocuments(partsCollection(name), readStore);
  }

  handles(type: string): boolean {
    const { recounts, withdraw } = this.#projection;
    return this.#handled.has(type) || (isCorrection({ type }) && (recounts || withdraw) !== undefined);
  }

  /** Undefined when withdrawals change nothing in this projection. `position`: of the event. */
  correction(position: Position): DocumentCorrection | undefined {
    const load = {
      documents: (ids: readonly string[]) => this.#documents.load(ids),
      parts: (ids: readonly string[]) => this.#parts.load(ids),
    };
    return documentCorrection(this.#projection, load, position);
  }

  /** To be committed with the others that changed. */
  put({ documents, parts }: CorrectedDocuments): void {
    for (const document of documents) this.#documents.change(document, false);
    for (const part of parts) this.#parts.change(part, false);
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

  /**
   * Folds events that follow those folded before. A failure of the projection's own code is returned: the changed
   * documents may then be half changed, and `clear` must be called. @throws what the read store throws
   */
  async fold(events: readonly StoredEvent[]): Promise<FoldFailure | undefined> {
    const { byKey, failure: unkeyed } = this.#byKey(events);
    const held = await this.#documents.load([...byKey.keys()]);
    const parts = partsIn(this.#parts, await this.#loadParts(byKey, held));
    let failure = unkeyed;
    for (const [key, own] of byKey) {
      const failed = this.#foldDocument(key, held.get(key), own, parts);
      if (!failed) continue;
      const index = events.indexOf(failed.event);
      if (!failure || index < failure.index) failure = { index, error: failed.error };
    }
    return failure;
  }

  #byKey(events: readonly StoredEvent[]): { byKey: Map<string, StoredEvent[]>; failure?: FoldFailure } {
    const byKey = new Map<string, StoredEvent[]>();
    for (const [index, event] of events.entries()) {
      if (!this.#handled.has(event.type)) continue;
      try {
        const key = this.#projection.key(event);
        if (key === undefined) continue;
        const own = byKey.get(key);
        if (own) own.push(event);
        else byKey.set(key, [event]);
      } catch (error) {
        return { byKey, failure: { index, error } };
      }
    }
    return { byKey };
  }

  /** Those that the events may change: none for nearly all documents. */
  async #loadParts(byKey: ReadonlyMap<string, readonly StoredEvent[]>, held: Stored): Promise<Stored> {
    const { parts } = this.#projection;
    if (!parts) return new Map();
    const ids = new Set<string>();
    for (const [key, own] of byKey) {
      const [first] = own;
      const document = foldedSoFar(held.get(key)) ?? (first && this.#projection.empty(first));
      if (!document || own.every((event) => parts.isWithin(document, event))) continue;
      for (const event of own) for (const id of parts.idsOf(event)) ids.add(id);
    }
    return await this.#parts.load([...ids]);
  }

  /** Folds the events that the document doesn't contain yet. */
  #foldDocument(
    key: string,
    document: Document | undefined,
    events: readonly StoredEvent[],
    parts: Parts,
  ): { event: StoredEvent; error: unknown } | undefined {
    const contained = document?._position ?? "";
    let fields: Fields<Document> | undefined = foldedSoFar(document);
    let position: string | undefined;
    for (const event of events) {
      if (event.position <= contained) continue;
      try {
        fields = this.#projection.evolve(fields ?? this.#projection.empty(event), event, this.#shared, parts);
      } catch (error) {
        return { event, error };
      }
      position = event.position;
    }
    if (position === undefined) return undefined;
    const next = fields as Document;
    next._id = key;
    next._position = position;
    this.#documents.change(next, document === undefined);
    return undefined;
  }
}

/** `loaded`: what is stored of those that may be changed. */
function partsIn(held: HeldDocuments, loaded: Stored): Parts {
  return {
    change(id, position, evolve) {
      const part = held.changedOne(id) ?? loaded.get(id);
      // Stored by a commit whose documents were not.
      if (part && part._position >= position) return;
      const next = evolve(foldedSoFar(part) as Parameters<typeof evolve>[0]);
      held.change(Object.assign(next, { _id: id, _position: position }), part === undefined);
    },
  };
}
