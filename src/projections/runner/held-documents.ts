// Documents of one collection in memory while they are folded: those changed since the last commit, and a bounded cache.
import { LRUCache } from "lru-cache";
import type { Document, ReadStore } from "../../read-store/port.ts";

/** Cache size of one collection in bytes, as estimated by `sizeOf`. */
const CACHE_BYTES = 32 * 2 ** 20;
/** Average size of a value in memory, such as an element of an array with its text. */
const VALUE_BYTES = 40;

/** `size`: as estimated when it had been changed `measuredAt` times. `isNew`: it was not loaded. */
type Changed = {
  document: Document;
  size: number;
  changes: number;
  measuredAt: number;
  isNew: boolean;
};

/**
 * Holds the changed documents until they are committed, and a cache of those that a later commit changed again: most
 * documents, such as links, are written once. Both must be cleared whenever a write may have failed.
 */
export class HeldDocuments {
  readonly #collection: string;
  readonly #readStore: Pick<ReadStore, "getMany">;
  readonly #cache = new LRUCache<string, Document>({ maxSize: CACHE_BYTES });
  readonly #changed = new Map<string, Changed>();
  #changedBytes = 0;

  constructor(collection: string, readStore: Pick<ReadStore, "getMany">) {
    this.#collection = collection;
    this.#readStore = readStore;
  }

  /** Those that exist, as they were changed last. @throws what the read store throws */
  async load(ids: readonly string[]): Promise<Map<string, Document>> {
    const held = new Map<string, Document>();
    const missing: string[] = [];
    for (const id of ids) {
      const cached = this.changedOne(id) ?? this.#cache.get(id);
      if (cached) held.set(id, cached);
      else missing.push(id);
    }
    if (missing.length > 0) {
      const stored = await this.#readStore.getMany(this.#collection, missing);
      for (const document of stored) held.set(document._id, document);
    }
    return held;
  }

  /** As changed since the last commit; undefined for others. */
  changedOne(id: string): Document | undefined {
    return this.#changed.get(id)?.document;
  }

  /** `isNew`: it was not loaded, as it isn't stored yet, or whatever is stored is replaced. */
  change(document: Document, isNew: boolean): void {
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

  /** All documents changed since the last commit. */
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
      if (isNew) this.#cache.delete(id);
      else this.#cache.set(id, document, { size });
    this.#forgetChanged();
  }

  /** Continues from the stored documents. */
  clear(): void {
    this.#cache.clear();
    this.#forgetChanged();
  }

  #forgetChanged(): void {
    this.#changed.clear();
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
