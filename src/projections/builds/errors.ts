// What queries answer while the first build of a projection is in the making.
import { StoreUnavailable } from "../../event-store/port.ts";

/** 503, and the same to whoever can do without documents: redirects go by the streams then. */
export class ProjectionNotBuilt extends StoreUnavailable {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
