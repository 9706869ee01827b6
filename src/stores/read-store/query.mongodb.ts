// Translates a FindQuery to a MongoDB filter for all compatible servers; values can't act as operators.
import type { Document as BsonDocument, Filter, Sort } from "mongodb";
import { fieldName } from "./names.ts";
import type { FindQuery, Scalar } from "./port.ts";

/**
 * Its fields as they are, and each nested one as JSON text: keys may contain dots and dollars there, lists may be
 * nested. `_term`: of the commit that has written it.
 */
export type StoredDocument = BsonDocument & {
  _id: string;
  _nested?: Record<string, string>;
  _term?: number;
};

/** @throws Failure */
export function filterOf(query: Omit<FindQuery, "limit">): Filter<StoredDocument> {
  const { where, range, in: among, notIn, contains, has, after, sort } = query;
  const parts: BsonDocument[] = [];
  // With $eq null matches null and missing fields.
  for (const [field, value] of Object.entries(where ?? {})) {
    parts.push({ [fieldName(field)]: { $eq: scalar(value) } });
  }
  if (range?.from !== undefined) parts.push({ [fieldName(range.field)]: { $gte: range.from } });
  if (range?.to !== undefined) parts.push({ [fieldName(range.field)]: { $lt: range.to } });
  for (const [field, texts] of Object.entries(among ?? {}))
    parts.push({ [fieldName(field)]: { $in: texts.map(String) } });
  for (const [field, texts] of Object.entries(notIn ?? {}))
    if (texts.length > 0) parts.push({ [fieldName(field)]: { $nin: texts.map(String) } });
  for (const text of contains?.texts ?? []) parts.push(partOfText(contains?.field ?? "", text));
  // Equal to a list that has it.
  if (has) parts.push({ [fieldName(has.field)]: { $eq: String(has.element) } });
  if (after) parts.push(beyond(after, sort));
  if (parts.length === 0) return {};
  return parts.length === 1
    ? (parts[0] as Filter<StoredDocument>)
    : { $and: parts as Filter<StoredDocument>[] };
}

/** The field, then `_id`, both in the same direction. @throws Failure */
export function sortOf(sort: FindQuery["sort"]): Sort {
  const direction = sort?.direction === "desc" ? -1 : 1;
  return sort && sort.field !== "_id"
    ? [
        [fieldName(sort.field), direction],
        ["_id", direction],
      ]
    : [["_id", direction]];
}

function partOfText(field: string, text: string): BsonDocument {
  // A pattern with NUL is an error, and an empty $in matches nothing.
  if (text.includes("\0")) return { _id: { $in: [] } };
  return { [fieldName(field)]: { $regex: text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") } };
}

function beyond(after: NonNullable<FindQuery["after"]>, sort: FindQuery["sort"]): BsonDocument {
  const operator = sort?.direction === "desc" ? "$lt" : "$gt";
  if (!sort || sort.field === "_id") return { _id: { [operator]: after.id } };
  const field = fieldName(sort.field);
  return {
    $or: [
      { [field]: { [operator]: after.value } },
      { [field]: { $eq: after.value }, _id: { [operator]: after.id } },
    ],
  };
}

/** Values of other types are compared as JSON text, so that they can't be operators. */
function scalar(value: Scalar): Scalar {
  return value !== null && typeof value === "object" ? JSON.stringify(value) : value;
}
