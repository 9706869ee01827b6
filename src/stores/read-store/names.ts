import { Failure } from "../../runtime/errors.ts";

// Validates names of collections and fields, as they become part of the query text.

const COLLECTION = /^[a-z][a-z0-9_-]{0,62}$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** @throws Failure */
export function collectionName(name: string): string {
  return plain(name, COLLECTION);
}

/** A top-level field. @throws Failure */
export function fieldName(name: string): string {
  return plain(name, FIELD);
}

function plain(name: string, shape: RegExp): string {
  if (shape.test(name)) return name;
  throw new Failure(`Not a name for a collection or field: ${JSON.stringify(name)}`);
}
