// Folds a batch of events into the documents of one projection in memory; skips events that a document contains already.
import { LRUCache } from "lru-cache";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";

/** Cache size of one projection in field values, as documents differ in size: some tens of megabytes. */
const CACHE_VALUES = 1_000_000;

/** Index of the event at which the projection's own code threw. */
export type FoldFailure = { index: number; error: unknown };

/** `changed`: documents with all events folded, or, with a failure, those before its index. */
export type FoldResult = { changed: Document[]; failure?: FoldFailure };

/** Holds a cache of documents, which must be cleared whenever a write may have failed. */
export class DocumentFold {
  readonly #projection: Projection;
  readonly #readStore: ReadStore;
  readonly #handled: ReadonlySet<string>;
  readonly #cache: LRUCache<string, Document>;

  constructor(projection: Projection, readStore: ReadStore) {
    this.#projection = projection;
    this.#readStore = readStore;
    this.#handled = new Set(projection.handles);
    this.#cache = new LRUCache({ maxSize: CACHE_VALUES, sizeCalculation: sizeOf });
  }

  handles(type: string): boolean {
    return this.#handled.has(type);
  }

  clearCache(): void {
    this.#cache.clear();
  }

  /** Errors of the projection's own code are returned as `failure`. @throws what the read store throws */
  async fold(events: readonly StoredEvent[]): Promise<FoldResult> {
    const first = await this.#foldOnce(events);
    if (!first.failure) return first;
    // A document may be half changed, so the events before the failed one are folded again from stored documents.
    this.clearCache();
    const { changed } = await this.#foldOnce(events.slice(0, first.failure.index));
    return { changed, failure: first.failure };
  }

  async #foldOnce(events: readonly StoredEvent[]): Promise<FoldResult> {
    const { keys, failure: unkeyed } = this.#keysOf(events);
    const held = await this.#load(new Set(keys));
    const changed = new Map<string, Document>();
    let failure = unkeyed;
    for (const [index, key] of keys.entries()) {
      const event = events[index];
      if (key === undefined || event === undefined) continue;
      const document = held.get(key);
      if (document && document._position >= event.position) continue;
      try {
        const next = this.#step(key, document, event);
        // Most folds change the document in place, so both maps hold the result already.
        if (next === document && changed.has(key)) continue;
        held.set(key, next);
        changed.set(key, next);
      } catch (error) {
        failure = { index, error };
        break;
      }
    }
    for (const [key, document] of changed) this.#cache.set(key, document);
    return failure ? { changed: [...changed.values()], failure } : { changed: [...changed.values()] };
  }

  /** Keys of the events before the failure; undefined for an event that changes no document. */
  #keysOf(events: readonly StoredEvent[]): { keys: (string | undefined)[]; failure?: FoldFailure } {
    const keys: (string | undefined)[] = [];
    for (const [index, event] of events.entries()) {
      try {
        keys.push(this.#handled.has(event.type) ? this.#projection.key(event) : undefined);
      } catch (error) {
        return { keys, failure: { index, error } };
      }
    }
    return { keys };
  }

  #step(key: string, document: Document | undefined, event: StoredEvent): Document {
    const before: Fields<Document> = document ?? this.#projection.empty(event);
    const after = this.#projection.evolve(before, event) as Document;
    after._id = key;
    after._position = event.position;
    return after;
  }

  async #load(keys: ReadonlySet<string | undefined>): Promise<Map<string, Document>> {
    const held = new Map<string, Document>();
    const missing: string[] = [];
    for (const key of keys) {
      if (key === undefined) continue;
      const cached = this.#cache.get(key);
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

/** Approximate number of values in a document; two for each list item, as lists hold pairs or larger objects. */
function sizeOf(document: Document): number {
  let size = 1;
  for (const value of Object.values(document)) {
    if (Array.isArray(value)) size += 1 + value.length * 2;
    else if (value !== null && typeof value === "object") {
      for (const inner of Object.values(value)) size += Array.isArray(inner) ? 1 + inner.length * 2 : 1;
    } else size += 1;
  }
  return size;
}
