// Which names collections and fields may have: they enter queries as code does, so nothing else gets in.
import { DomainError } from "../runtime/errors.ts";

const COLLECTION = /^[a-z][a-z0-9_-]{0,62}$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** A collection or field name that may not enter a query: a mistake in our code, never a user's doing. */
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
