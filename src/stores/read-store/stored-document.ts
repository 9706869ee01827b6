// How adapters store a document: fields that queries can search, and the others as JSON that nobody parses for them.
import type { Document } from "./port.ts";

/** `fields`: scalars and lists of texts. `nested`: the objects and other lists; undefined when there are none. */
export type StoredParts = {
  fields: Document & Record<string, unknown>;
  nested: Record<string, unknown> | undefined;
};

export function storedParts(document: Document): StoredParts {
  const fields = {} as StoredParts["fields"];
  const nested: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(document)) {
    if (value !== null && typeof value === "object" && !isListOfTexts(value)) nested[name] = value;
    else fields[name] = value;
  }
  return { fields, nested: Object.keys(nested).length > 0 ? nested : undefined };
}

/** Without half a surrogate pair, which BSON can't hold. */
function isListOfTexts(value: object): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((text) => typeof text === "string" && text.isWellFormed())
  );
}
