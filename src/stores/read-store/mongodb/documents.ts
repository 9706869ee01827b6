// The stored form of a document in MongoDB: scalars and lists of texts as fields for queries, other objects as
// JSON text.
import type { Document as BsonDocument } from "mongodb";
import type { Document } from "../port.ts";

/**
 * `_json`: the fields that are objects, or arrays of anything but texts. As text they are returned unchanged: keys
 * may contain dots and dollars, and compatible servers without nested arrays can store them.
 */
export type StoredDocument = BsonDocument & { _id: string; _json?: string };

export function toStored(document: Document): StoredDocument {
  const fields: BsonDocument = {};
  const shaped: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(document)) {
    if (value !== null && typeof value === "object" && !isListOfTexts(value)) shaped[name] = value;
    else fields[name] = value;
  }
  const stored = fields as StoredDocument;
  if (Object.keys(shaped).length > 0) stored._json = JSON.stringify(shaped);
  return stored;
}

export function fromStored<D extends Document>({ _json, ...fields }: StoredDocument): D {
  return (_json === undefined ? fields : { ...fields, ...JSON.parse(_json) }) as D;
}

/** Without half a surrogate pair, which BSON can't hold. */
function isListOfTexts(value: object): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === "string" && one.isWellFormed())
  );
}
