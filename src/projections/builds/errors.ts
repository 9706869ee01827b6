// What queries throw until the first build of a projection is complete.
import { StoreUnavailable } from "../../connections/errors.ts";

/** Answered as 503. A StoreUnavailable, so that redirects fall back to the link's stream as they do without a read store. */
export class ProjectionNotBuilt extends StoreUnavailable {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
