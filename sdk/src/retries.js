// Sends a request again that got no answer, or one that asks to try later: only one that may be repeated, and not for ever.

const FIRST_WAIT_MS = 500;
/** Too many requests, and what servers and proxies answer that are away for a moment. */
const PASSING = new Set([429, 502, 503, 504]);

/** A fetch that retries: `GET` and `HEAD`, and whatever carries an `Idempotency-Key`. */
export function retryingFetch(fetch, { retries = 3, maxWaitMs = 60_000 }) {
  return async (request) => {
    const attempts = isRepeatable(request) ? retries : 0;
    let waitLeftMs = maxWaitMs;
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt === attempts;
      const outcome = await outcomeOf(fetch, isLast ? request : request.clone());
      const waitMs = waitAfter(outcome, attempt);
      if (isLast || waitMs === undefined || waitMs > waitLeftMs || request.signal.aborted) {
        if (outcome instanceof Response) return outcome;
        throw outcome.error;
      }
      if (outcome instanceof Response) await outcome.body?.cancel();
      waitLeftMs -= waitMs;
      await pause(waitMs, request.signal);
    }
  };
}

/** Milliseconds that the answer asks for; undefined when it asks for none that can be read, or is nothing that passes. */
export function retryAfterMs({ status, headers }) {
  if (!PASSING.has(status)) return undefined;
  const text = headers.get("retry-after")?.trim() ?? "";
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  // Date.parse takes -1 and the like for years that are over.
  const date = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = isSeconds ? Number(text) * 1000 : date - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Twice as long after each failure, with jitter, at most `mostMs`. */
export function backoffMs(failures, fromMs = FIRST_WAIT_MS, mostMs = 30_000) {
  return Math.min(fromMs * 2 ** failures, mostMs) * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason when it aborts */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    // A longer timer would end at once.
    const boundedMs = Math.min(ms, 2 ** 31 - 1);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, boundedMs);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

export function isPassing(status) {
  return PASSING.has(status);
}

function isRepeatable({ method, headers }) {
  return method === "GET" || method === "HEAD" || headers.has("idempotency-key");
}

async function outcomeOf(fetch, request) {
  try {
    return await fetch(request);
  } catch (error) {
    return { error };
  }
}

function waitAfter(outcome, attempt) {
  if (!(outcome instanceof Response)) return backoffMs(attempt);
  if (!isPassing(outcome.status)) return undefined;
  return retryAfterMs(outcome) ?? backoffMs(attempt);
}
