// Compares the stored documents of a projection with those that were folded again up to a position.
import type { Position } from "../../event-store/port.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { type Difference, fieldsThatDiffer } from "./differences.ts";
import type { SumChecks } from "./sums.ts";

/** `changed`: documents that have events behind the position, by id, for compareChanged. */
export type Comparison = {
  projection: Projection;
  position: Position;
  documents: number;
  differences: Difference[];
  changed: Map<string, ChangedDocument>;
};

/** `stored`: as it was read. `folded`: up to the position; undefined when it had no event there. */
export type ChangedDocument = { stored: Document; folded: Document | undefined };

type Deps = { readStore: ReadStore; scratch: ReadStore; sums: SumChecks; isSample: boolean };

const PAGE = 1_000;

export async function compareAll(
  { readStore, scratch, sums, isSample }: Deps,
  projection: Projection,
  position: Position,
): Promise<Comparison> {
  const collection = projection.collection.name;
  const found: Comparison = { projection, position, documents: 0, differences: [], changed: new Map() };
  for await (const page of pages(scratch, collection)) {
    const stored = await byId(readStore, collection, page);
    for (const folded of page) {
      sums.see(projection.name, folded);
      compare(found, stored.get(folded._id), folded);
    }
  }
  if (isSample) return found;
  for await (const page of pages(readStore, collection)) {
    const folded = await byId(scratch, collection, page);
    for (const stored of page) if (!folded.has(stored._id)) compare(found, stored, undefined);
  }
  return found;
}

/** Compares one pair at the same position; a stored document that is ahead is noted. */
function compare(found: Comparison, stored: Document | undefined, folded: Document | undefined): void {
  if (stored && stored._position > found.position) {
    found.changed.set(stored._id, { stored, folded });
    return;
  }
  compareEqual(found, stored, folded);
}

/** To be called with both as of the same position; one of them may be undefined. */
export function compareEqual(
  found: Comparison,
  stored: Document | undefined,
  folded: Document | undefined,
): void {
  const { _id: id = "", _position: position = "" } = stored ?? folded ?? {};
  const problem = !stored ? "missing" : !folded ? "unexpected" : "different";
  const fields = stored && folded ? fieldsThatDiffer(stored, folded) : [];
  found.documents += 1;
  if (problem !== "different" || fields.length > 0)
    found.differences.push({ projection: found.projection.name, id, position, problem, fields });
}

async function* pages(store: ReadStore, collection: string): AsyncGenerator<Document[]> {
  let after: { value: string; id: string } | undefined;
  for (;;) {
    const page = await store.find(collection, { limit: PAGE, ...(after && { after }) });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = { value: last._id, id: last._id };
  }
}

async function byId(
  store: ReadStore,
  collection: string,
  page: readonly Document[],
): Promise<Map<string, Document>> {
  const documents = await store.getMany(
    collection,
    page.map(({ _id }) => _id),
  );
  return new Map(documents.map((document) => [document._id, document]));
}
