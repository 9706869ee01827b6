// Errors of queries.
import { DomainError } from "../runtime/errors.ts";

/** The resource does not exist (interface, part 7: 404). */
export class NotFound extends DomainError {
  override readonly code = "not_found";
}

/** The resource belongs to another account (interface, part 7: 403). */
export class Forbidden extends DomainError {
  override readonly code = "forbidden";
}

/** A range of time or a number of points that can't be answered (400). */
export class InvalidRange extends DomainError {
  override readonly code = "invalid_range";
}

/** A malformed cursor (400). */
export class InvalidCursor extends DomainError {
  override readonly code = "invalid_cursor";
  constructor() {
    super("The cursor is not valid. Use next_cursor of the page before, unchanged.");
  }
}
