// What only the portal refuses; api/http-errors.ts maps the codes to statuses.
import { DomainError } from "../errors.ts";

/** One account watches live in too many places at once (429). */
export class TooManyStreams extends DomainError {
  override readonly code = "too_many_streams";
  constructor() {
    super("Live updates are open in too many tabs: close one first.");
  }
}
