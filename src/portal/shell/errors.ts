// What only the portal refuses; api/http-errors.ts maps the codes to statuses.
import { DomainError } from "../../runtime/errors.ts";

/** One account has too many long answers open at once (429). */
export class TooManyStreams extends DomainError {
  override readonly code = "too_many_streams";
}
