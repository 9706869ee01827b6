// Folds a batch of events into the documents of one projection in memory; skips events that a document contains already.
import { LRUCache } from "lru-cache";
import type { Position } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";
import { sharedTexts } from "../shared-texts.ts";
import { isCorrection } from "./corrected-clicks.ts";
import { type DocumentCorrection, documentCorrection, foldedSoFar } from "./document-correction.ts";

/** Cache size of one projection in bytes, as estimated by `sizeOf`. */
const CACHE_BYTES = 32 * 2 ** 20;
/** Average size of a value in memory, such as an element of an array with its text. */
const VALUE_BYTES = 40;

/** `size`: as estimated when it had been changed `measuredAt` times. `isNew`: not stored yet. */
type Changed = {
  document: Document;
  size: number;
  changes: number;
  measuredAt: number;
  isNew: boolean;
};

/** Index of the event at which the projection's own code threw. */
export type FoldFailure = { index: number; error: unknown };

/**
 * Holds the changed documents until they are committed, and a cache of those that a later commit changed again: most
 * documents, such as links, are written once. Both must be cleared whenever a write may have failed.
 */
export class DocumentFold {
  readonly #projection: Projection;
  readonly #readStore: Pick<ReadStore, "getMany">;
  readonly #handled: ReadonlySet<string>;
  readonly #cache: LRUCache<string, Document>;
  readonly #shared = sharedTexts();
  readonly #changed = new Map<string, Changed>();
  #changedBytes = 0;

  constructor(projection: Projection, readStore: Pick<ReadStore, "getMany">) {
    this.#projection = projection;
    this.#readStore = readStore;
    this.#handled = new Set(projection.handles);
    this.#cache = new LRUCache({ maxSize: CACHE_BYTES });
  }

  handles(type: string): boolean {
    const { recounts, withdraw } = this.#projection;
    return this.#handled.has(type) || (isCorrection({ type }) && (recounts || withdraw) !== undefined);
  }

  /** Undefined when withdrawals change nothing in this projection. `position`: of the event. */
  correction(position: Position): DocumentCorrection | undefined {
    return documentCorrection(this.#projection, (keys) => this.#load(keys), position);
  }

  /** To be committed with the others that changed. */
  put(documents: readonly Document[]): void {
    for (const document of documents) this.#change(document, false);
  }

  /** Documents changed since the last commit. */
  changed(): Document[] {
    return Array.from(this.#changed.values(), ({ document }) => document);
  }

  /** Estimated size of the changed documents in memory. */
  get changedBytes(): number {
    return this.#changedBytes;
  }

  /** To be called when the changed documents are stored. */
  committed(): void {
    for (const [id, { document, size, isNew }] of this.#changed)
      if (!isNew) this.#cache.set(id, document, { size });
    this.#forgetChanged();
  }

  /** Continues from the stored documents. */
  clear(): void {
    this.#cache.clear();
    this.#forgetChanged();
  }

  /**
   * Folds events that follow those folded before. A failure of the projection's own code is returned: the changed
   * documents may then be half changed, and `clear` must be called. @throws what the read store throws
   */
  async fold(events: readonly StoredEvent[]): Promise<FoldFailure | undefined> {
    const { byKey, failure: unkeyed } = this.#byKey(events);
    const held = await this.#load([...byKey.keys()]);
    let failure = unkeyed;
    for (const [key, own] of byKey) {
      const failed = this.#foldDocument(key, held.get(key), own);
      if (!failed) continue;
      const index = events.indexOf(failed.event);
      if (!failure || index < failure.index) failure = { index, error: failed.error };
    }
    return failure;
  }

  #forgetChanged(): void {
    this.#changed.clear();
    this.#changedBytes = 0;
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

  /** Folds the events that the document doesn't contain yet. */
  #foldDocument(
    key: string,
    document: Document | undefined,
    events: readonly StoredEvent[],
  ): { event: StoredEvent; error: unknown } | undefined {
    const contained = document?._position ?? "";
    let fields: Fields<Document> | undefined = foldedSoFar(document);
    let position: string | undefined;
    for (const event of events) {
      if (event.position <= contained) continue;
      try {
        fields = this.#projection.evolve(fields ?? this.#projection.empty(event), event, this.#shared);
      } catch (error) {
        return { event, error };
      }
      position = event.position;
    }
    if (position === undefined) return undefined;
    const next = fields as Document;
    next._id = key;
    next._position = position;
    this.#change(next, document === undefined);
    return undefined;
  }

  #change(document: Document, isNew: boolean): void {
    const known = this.#changed.get(document._id);
    if (!known) {
      const size = sizeOf(document);
      this.#changed.set(document._id, { document, size, changes: 1, measuredAt: 1, isNew });
      this.#changedBytes += size;
      return;
    }
    known.document = document;
    known.changes += 1;
    // Less and less often, as estimating takes as long as folding an event, and documents grow ever more slowly.
    if (known.changes < 2 * known.measuredAt) return;
    known.measuredAt = known.changes;
    const size = sizeOf(document);
    this.#changedBytes += size - known.size;
    known.size = size;
  }

  async #load(keys: readonly string[]): Promise<Map<string, Document>> {
    const held = new Map<string, Document>();
    const missing: string[] = [];
    for (const key of keys) {
      const cached = this.#changed.get(key)?.document ?? this.#cache.get(key);
      if (cached) held.set(key, cached);
      else missing.push(key);
    }
    if (missing.length > 0) {
      const stored = await this.#readStore.getMany(this.#projection.collection.name, missing);
      for (const document of stored) held.set(document._id, document);
    }
    return held;
  }
}

/** Estimated from the number of values, as reading the length of each text would take longer than folding an event. */
function sizeOf(document: Document): number {
  return valuesIn(document) * VALUE_BYTES;
}

/** Lists are nested once: rows of hits, quarter-hours, tallies. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let values = 0;
  if (!Array.isArray(value)) {
    for (const field of Object.values(value)) values += 1 + valuesIn(field);
    return values;
  }
  values = value.length;
  if (Array.isArray(value[0])) for (const row of value) values += row.length;
  return values;
}
