// Reads all documents of a search page by page, so that a reader of many holds one page at a time.
import { timeSlices } from "../../runtime/threads/time-slices.ts";
import type { Document, FindQuery, ReadStore } from "./port.ts";

/**
 * In the order of the query, from its `after` on; its `limit` is of a page. No page is empty. The thread takes its messages
 * between them, as a store may read without waiting. @throws what the store throws
 */
export async function* documentPages<D extends Document>(
  readStore: Pick<ReadStore, "find">,
  collection: string,
  query: FindQuery,
): AsyncGenerator<D[]> {
  const field = query.sort?.field ?? "_id";
  const slices = timeSlices();
  for (let { after } = query; ; ) {
    const page = await readStore.find<D>(collection, { ...query, ...(after && { after }) });
    const last = page.at(-1);
    if (last) yield page;
    if (!last || page.length < query.limit) return;
    after = placeIn(last, field);
    await slices.next();
  }
}

/** Where a document stands in the order by the field. */
export function placeIn(document: Document, field: string): NonNullable<FindQuery["after"]> {
  const { [field]: value } = document as Document & Record<string, unknown>;
  return { value: value as string | number, id: document._id };
}

/** Those of the ids that exist; without asking the store for none. @throws what the store throws */
export async function documentsById<D extends Document>(
  readStore: Pick<ReadStore, "getMany">,
  collection: string,
  ids: readonly string[],
  fields?: readonly (keyof D & string)[],
): Promise<Map<string, D>> {
  const documents = ids.length > 0 ? await readStore.getMany<D>(collection, ids, fields) : [];
  return new Map(documents.map((document) => [document._id, document]));
}

/** The documents of all pages, for readers that need them together anyway. @throws what the store throws */
export async function allDocuments<D extends Document>(
  ...search: Parameters<typeof documentPages>
): Promise<D[]> {
  return (await Array.fromAsync(documentPages<D>(...search))).flat();
}
