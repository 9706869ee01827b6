// Validates names of collections and fields, as they become part of the query text.
import { DomainError } from "../runtime/errors.ts";

const COLLECTION = /^[a-z][a-z0-9_-]{0,62}$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** An invalid collection or field name: an error of this program, never of a request. */
export class BadName extends DomainError {
  override readonly code = "bad_name";
  constructor(name: string) {
    super(`Not a name for a collection or field: ${JSON.stringify(name)}`);
  }
}

/** @throws BadName */
export function collectionName(name: string): string {
  if (!COLLECTION.test(name)) throw new BadName(name);
  return name;
}

/** A top-level field. @throws BadName */
export function fieldName(name: string): string {
  if (!FIELD.test(name)) throw new BadName(name);
  return name;
}
