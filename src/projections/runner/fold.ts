// Folds a batch of events into the documents of one projection, in memory, each event at most once per document.
import { LRUCache } from "lru-cache";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";

/** Values (not documents) that the folds of one projection keep in memory: some tens of megabytes. */
const CACHE_VALUES = 1_000_000;

/** The event at which a projection's own code threw; `changed` are the documents as of the event before it. */
export type FoldFailure = { index: number; error: unknown };

/** `events[0..index)` are folded when there is a failure, else all. */
export type FoldResult = { changed: Document[]; failure?: FoldFailure };

/** The documents of one projection that its runner holds; `forget` them whenever a write may have failed. */
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

  forget(): void {
    this.#cache.clear();
  }

  /** @throws whatever the read store throws; the projection's own errors come back as `failure` */
  async fold(events: readonly StoredEvent[]): Promise<FoldResult> {
    const first = await this.#foldOnce(events);
    if (!first.failure) return first;
    // The throw may have left a document half changed: load them afresh and stop right before it.
    this.forget();
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
        // A fold that changes its document in place, as most do, has nothing new to be found.
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

  /** One for each event up to the failure; undefined for an event of no document. */
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

/** Roughly how many values a document holds: its lists are what makes one document larger than another. */
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
