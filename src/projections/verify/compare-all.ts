// Compares the stored documents of a projection with those that were folded again up to a position.
import type { Position } from "../../stores/event-store/port.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import { collectionsOf, type Projection, partsCollection } from "../projection.ts";
import { documentsOf } from "../runner/fold.ts";
import { type Difference, fieldsThatDiffer } from "./differences.ts";
import type { SumChecks } from "./sums.ts";

/** `changed`: documents that have events behind the position, and parts of documents, by id, for compareChanged. */
export type Comparison = {
  projection: Projection;
  position: Position;
  documents: number;
  differences: Difference[];
  changed: ChangedDocuments;
  changedParts: ChangedDocuments;
};

export type ChangedDocuments = Map<string, ChangedDocument>;

/** `stored`: as it was read. `folded`: up to the position; undefined when it had no event there. */
export type ChangedDocument = { stored: Document; folded: Document | undefined };

type Deps = { readStore: ReadStore; scratch: ReadStore; sums: SumChecks; isSample: boolean };

const PAGE = 1_000;

export async function compareAll(
  { readStore, scratch, sums, isSample }: Deps,
  projection: Projection,
  position: Position,
): Promise<Comparison> {
  const found: Comparison = {
    ...{ projection, position, documents: 0, differences: [] },
    ...{ changed: new Map(), changedParts: new Map() },
  };
  // Parts first: what they are changed by until the documents are read, these contain, too.
  for (const { name } of collectionsOf(projection).toReversed()) {
    const isWhole = name === projection.collection.name;
    const changed = isWhole ? found.changed : found.changedParts;
    const kind = isWhole ? projection.name : partsCollection(projection.name);
    /** Compares one pair at the same position; a stored document that is ahead is noted. */
    const compare = (stored: Document | undefined, folded: Document | undefined) => {
      if (stored && stored._position > position) changed.set(stored._id, { stored, folded });
      else compareEqual(found, stored, folded);
    };
    for await (const page of documentPages(scratch, name, { limit: PAGE })) {
      const stored = await documentsOf(readStore, name, idsOf(page));
      for (const folded of page) {
        sums.see(kind, folded);
        compare(stored.get(folded._id), folded);
      }
    }
    if (isSample) continue;
    for await (const page of documentPages(readStore, name, { limit: PAGE })) {
      const folded = await documentsOf(scratch, name, idsOf(page));
      for (const stored of page) if (!folded.has(stored._id)) compare(stored, undefined);
    }
  }
  return found;
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

function idsOf(page: readonly Document[]): string[] {
  return page.map(({ _id }) => _id);
}
