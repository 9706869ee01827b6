// What a question may be answered with instead of an answer.
import { DomainError } from "../runtime/errors.ts";

/** Link, webhook or other resource not found (interface, part 7: 404). */
export class NotFound extends DomainError {
  override readonly code = "not_found";
}

/** It is there, but someone else's (interface, part 7: 403). */
export class Forbidden extends DomainError {
  override readonly code = "forbidden";
}

/** A cursor that this service did not hand out (400). */
export class InvalidCursor extends DomainError {
  override readonly code = "invalid_cursor";
  constructor() {
    super("The cursor is not valid. Use next_cursor of the page before, unchanged.");
  }
}
