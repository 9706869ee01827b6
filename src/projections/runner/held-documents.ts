// Documents of one collection in memory while they are folded: those changed since the last commit, and a bounded cache.
import { LRUCache } from "lru-cache";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";

/** Cache size of one collection in bytes, as estimated by `sizeOf`. */
const CACHE_BYTES = 32 * 2 ** 20;
/** Average size of a value in memory, such as an element of an array with its text. */
const VALUE_BYTES = 40;

/**
 * `document`: as it was changed last; undefined when there is none, or it isn't loaded. `isStored`: whether it was when it
 * was loaded; undefined until then. `waiting`: events to be folded into it. `changes`: since the last commit. `size`: as
 * estimated when it had been changed `measuredAt` times.
 */
export type HeldDocument = {
  readonly id: string;
  document: Document | undefined;
  isStored: boolean | undefined;
  waiting: StoredEvent[] | undefined;
  changes: number;
  size: number;
  measuredAt: number;
};

/**
 * Holds the changed documents until they are committed, and a cache of those that a later commit changed again: most
 * documents, such as links, are written once. Both must be cleared whenever a write may have failed.
 */
export class HeldDocuments {
  readonly #collection: string;
  readonly #readStore: Pick<ReadStore, "getMany" | "find">;
  /** Whether the collection is known to have no document: then there is nothing to look up. */
  #isEmpty = false;
  readonly #cache = new LRUCache<string, Document>({ maxSize: CACHE_BYTES });
  /** Those that changed since the last commit, or that are about to. */
  readonly #held = new Map<string, HeldDocument>();
  #changedBytes = 0;

  constructor(collection: string, readStore: Pick<ReadStore, "getMany" | "find">) {
    this.#collection = collection;
    this.#readStore = readStore;
  }

  /** To be loaded before it is changed, and released if it isn't. */
  hold(id: string): HeldDocument {
    const known = this.#held.get(id);
    if (known) return known;
    const document = this.#cache.get(id);
    const isStored = document ? true : undefined;
    const held = { id, document, isStored, waiting: undefined, changes: 0, size: 0, measuredAt: 0 };
    this.#held.set(id, held);
    return held;
  }

  /** Reads those that aren't in memory. @throws what the read store throws */
  async load(all: readonly HeldDocument[]): Promise<void> {
    const missing = all.filter(({ isStored, changes }) => isStored === undefined && changes === 0);
    if (missing.length === 0) return;
    const ids = missing.map(({ id }) => id);
    const stored = this.#isEmpty ? [] : await this.#readStore.getMany(this.#collection, ids);
    for (const document of stored) {
      const held = this.#held.get(document._id);
      if (held) held.document = document;
    }
    for (const held of missing) held.isStored = held.document !== undefined;
  }

  /** Those that exist. @throws what the read store throws */
  async documents(ids: readonly string[]): Promise<Map<string, Document>> {
    const all = ids.map((id) => this.hold(id));
    await this.load(all);
    return new Map(all.flatMap(({ id, document }) => (document ? [[id, document]] : [])));
  }

  /** Without loading it before, whatever is stored is replaced. */
  change(held: HeldDocument, document: Document): void {
    held.document = document;
    held.changes += 1;
    // Less and less often, as estimating takes as long as folding an event, and documents grow ever more slowly.
    if (held.changes < 2 * held.measuredAt) return;
    held.measuredAt = held.changes;
    const size = sizeOf(document);
    this.#changedBytes += size - held.size;
    held.size = size;
  }

  /** Unless it has been changed since the last commit: what is only read isn't counted in `changedBytes`. */
  release({ id, changes }: HeldDocument): void {
    if (changes === 0) this.#held.delete(id);
  }

  /** All documents changed since the last commit. */
  changed(): Document[] {
    const documents: Document[] = [];
    for (const { document, changes } of this.#held.values())
      if (document && changes > 0) documents.push(document);
    return documents;
  }

  /** Estimated size of the changed documents in memory. */
  get changedBytes(): number {
    return this.#changedBytes;
  }

  /** To be called when the changed documents are stored. */
  committed(): void {
    this.#isEmpty = false;
    for (const { id, document, isStored, changes, size } of this.#held.values())
      if (document && isStored && changes > 0) this.#cache.set(id, document, { size });
    this.#forget();
  }

  /** Continues from the stored documents. */
  clear(): void {
    this.#cache.clear();
    this.#forget();
    this.#isEmpty = false;
  }

  /** As `clear`, before the first event of the log. @throws what the read store throws */
  async begin(): Promise<void> {
    this.clear();
    this.#isEmpty = (await this.#readStore.find(this.#collection, { limit: 1 })).length === 0;
  }

  #forget(): void {
    this.#held.clear();
    this.#changedBytes = 0;
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
