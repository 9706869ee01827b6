// Writes documents of one collection in parts of a bounded size, so that other work of the thread needn't wait long.
import type { Position } from "../../../stores/event-store/port.ts";
import type { Document } from "../../../stores/read-store/port.ts";
import type { ClickWorkDeps } from "./stored-tables.ts";

/** Values and numbers in the documents of a part, of some 15 bytes. */
export const VALUES_AT_A_TIME = 10_000;

export class PartsWriter<D extends Document> {
  readonly #deps: Pick<ClickWorkDeps, "write">;
  readonly #collection: string;
  #documents: D[] = [];
  #replaced = new Map<string, Position>();
  #values = 0;

  constructor(deps: Pick<ClickWorkDeps, "write">, collection: string) {
    this.#deps = deps;
    this.#collection = collection;
  }

  /** `values`: in the document, about. `replaces`: as of CollectionWrite. Returns whether a part was written. */
  async add(document: D, values: number, replaces?: Position): Promise<boolean> {
    this.#documents.push(document);
    this.#values += values;
    if (replaces !== undefined) this.#replaced.set(document._id, replaces);
    return this.#values >= VALUES_AT_A_TIME && (await this.end());
  }

  async end(): Promise<boolean> {
    if (this.#documents.length === 0) return false;
    const [documents, replaced] = [this.#documents, this.#replaced];
    [this.#documents, this.#replaced, this.#values] = [[], new Map(), 0];
    const collection = this.#collection;
    await this.#deps.write([{ collection, documents, ...(replaced.size > 0 && { replaced }) }]);
    return true;
  }
}
