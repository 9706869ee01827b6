// Folds the documents of one projection that change with a commit.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { StoredEvent } from "../../events/catalogue.ts";
import { documentsById } from "../../stores/read-store/document-pages.ts";
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";

/** Told of each event that the projection's own code has refused. */
export type OnRefused = (event: StoredEvent, error: unknown) => void;

/** Documents that are read and folded at a time; other work of the thread is done in between. */
const AT_A_TIME = 250;

export class Documents {
  readonly projection: Projection;
  readonly #readStore: Pick<ReadStore, "getMany">;
  /** The events taken, by the document that they change. */
  #waiting = new Map<string, StoredEvent[]>();

  constructor(projection: Projection, readStore: Pick<ReadStore, "getMany">) {
    this.projection = projection;
    this.#readStore = readStore;
  }

  /** How many change at the next commit. */
  get changing(): number {
    return this.#waiting.size;
  }

  take(event: StoredEvent): void {
    const key = this.projection.key(event);
    if (key === undefined) return;
    const events = this.#waiting.get(key);
    if (events) events.push(event);
    else this.#waiting.set(key, [event]);
  }

  /**
   * The documents that change, as they are to be stored. An event that a document contains already is skipped; a refused one
   * changes nothing. In the order of their ids, so that few pages of an index change. @throws what the read store throws
   */
  async fold(onRefused: OnRefused): Promise<Document[]> {
    const ids = [...this.#waiting.keys()].sort();
    const changed: Document[] = [];
    for (let at = 0; at < ids.length; at += AT_A_TIME) {
      const slice = ids.slice(at, at + AT_A_TIME);
      const stored = await documentsById(this.#readStore, this.projection.collection.name, slice);
      for (const id of slice) {
        const events = this.#waiting.get(id) ?? [];
        let folded: Document | undefined;
        try {
          folded = foldInto(this.projection, id, stored.get(id), events);
        } catch {
          // `evolve` changes in place, so what was folded by then is of no use.
          const [pristine] = await this.#readStore.getMany(this.projection.collection.name, [id]);
          folded = this.#foldedOneByOne(id, pristine, events, onRefused);
        }
        if (folded) changed.push(folded);
      }
      if (at + AT_A_TIME < ids.length) await yieldToLoop();
    }
    this.#waiting = new Map();
    return changed;
  }

  /** Slow, as each event is folded into a copy, so that a refused one changes nothing. */
  #foldedOneByOne(
    id: string,
    before: Document | undefined,
    events: readonly StoredEvent[],
    onRefused: OnRefused,
  ): Document | undefined {
    let document: Document | undefined;
    for (const event of events)
      try {
        document = foldInto(this.projection, id, structuredClone(document ?? before), [event]) ?? document;
      } catch (error) {
        onRefused(event, error);
      }
    return document;
  }
}

/** Undefined when the document contains the events. */
function foldInto(
  projection: Projection,
  id: string,
  before: Document | undefined,
  events: readonly StoredEvent[],
): Document | undefined {
  const contained = before?._position ?? "";
  let fields: Fields<Document> | undefined = before;
  let last: StoredEvent | undefined;
  for (const event of events) {
    if (event.position <= contained) continue;
    last = event;
    fields = projection.evolve(fields ?? projection.empty(event), event);
  }
  return fields && last && Object.assign(fields, { _id: id, _position: last.position });
}
