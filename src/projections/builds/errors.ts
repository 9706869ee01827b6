// What queries throw until the first build of a projection is complete.
import { StoreUnavailable } from "../../stores/connections/errors.ts";

/** Answered as 503. A StoreUnavailable, so that redirects fall back to the link's stream as they do without a read store. */
export class ProjectionNotBuilt extends StoreUnavailable {
  /** Seconds. */
  readonly retryAfter: number;

  constructor(message: string, retryAfter: number) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** Undefined where no build answers, for look-ups that go to the streams then. */
export async function orNotBuilt<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ProjectionNotBuilt) return undefined;
    throw error;
  }
}
