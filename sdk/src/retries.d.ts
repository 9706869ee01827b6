export type RetryOptions = {
  /** How often a request is sent again; default 3, none with 0. */
  retries?: number;
  /** The longest that a call waits for its retries altogether, in milliseconds; default 60,000. */
  maxWaitMs?: number;
};
/** A fetch that retries: `GET` and `HEAD`, and whatever carries an `Idempotency-Key`. */
export declare function retryingFetch(
  fetch: (request: Request) => Promise<Response>,
  { retries, maxWaitMs }: RetryOptions,
): (request: Request) => Promise<Response>;
/** Milliseconds that the answer asks for; undefined when it asks for none that can be read, or is nothing that passes. */
export declare function retryAfterMs({ status, headers }: Response): number | undefined;
/** Twice as long after each failure, with jitter, at most `mostMs`. */
export declare function backoffMs(failures: number, fromMs?: number, mostMs?: number): number;
/** @throws the signal's reason when it aborts */
export declare function pause(ms: number, signal: AbortSignal | undefined): Promise<void>;
export declare function isPassing(status: number): boolean;
