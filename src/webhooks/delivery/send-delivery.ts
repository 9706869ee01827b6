// One attempt to deliver one event to one receiver (interface, part 6): what was sent, and how it ended.
import { type Dispatcher, errors } from "undici";
import { receiverUrl } from "../receiver/receiver-url.ts";
import { failureOf, failureOfStatus, type RequestFailure } from "../receiver/request-failure.ts";
import type { Reach } from "../receiver/safe-address.ts";
import type { LINK_CLICKED } from "../routing/click-payload.ts";
import { signatureHeaders } from "./sign.ts";

export const DELIVERY_TIMEOUT_MS = 15_000;
export const KEPT_ANSWER_BYTES = 2048;
const MAX_STALE = 3;
export const WEBHOOK_USER_AGENT = "service-webhooks/2.0";

export type SendDeliveryDeps = Reach & {
  /** From `safeAgent`: it alone decides what can be connected to. */
  dispatcher: Dispatcher;
  /** Milliseconds since 1970. */
  now: () => number;
  /** For everything, from looking the name up to the answer's end; 15 s unless a test is in a hurry. */
  timeoutMs?: number;
};

export type OutgoingDelivery = {
  url: string;
  key: string;
  /** Signs too while the key is being rotated; X-API-Key is always the current one. */
  previousKey?: string | undefined;
  /** The same for every attempt: what receivers tell duplicates by. */
  id: string;
  body: Uint8Array;
  event: typeof LINK_CLICKED;
};

export type AttemptResult = {
  /** ISO 8601 UTC; also what X-Webhook-Timestamp and webhook-timestamp say. */
  at: string;
  durationMs: number;
  /** null when no answer came. */
  status: number | null;
  /** null exactly when it was delivered. */
  error: RequestFailure | null;
  /** The beginning of the answer's body, at most 2 KB, without control characters. */
  answer: string;
  /** From the answer's Retry-After, never negative and not bounded. */
  retryAfterMs: number | null;
  /** As sent, the key masked: this is kept in the log. */
  requestHeaders: Record<string, string>;
};

/** Never rejects: everything that can go wrong is a result. A 2xx status within the time is a success. */
export async function sendDelivery(
  deps: SendDeliveryDeps,
  delivery: OutgoingDelivery,
): Promise<AttemptResult> {
  const at = deps.now();
  const headers = requestHeaders(delivery, at);
  const answer = await request(deps, delivery, headers);
  return {
    at: new Date(at).toISOString(),
    durationMs: Math.max(0, Math.round(deps.now() - at)),
    ...answer,
    requestHeaders: { ...headers, "X-API-Key": masked(delivery.key) },
  };
}

type Answer = Pick<AttemptResult, "status" | "error" | "answer" | "retryAfterMs">;

async function request(
  deps: SendDeliveryDeps,
  { url, body }: OutgoingDelivery,
  headers: Record<string, string>,
): Promise<Answer> {
  const timeoutMs = deps.timeoutMs ?? DELIVERY_TIMEOUT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException("Too late", "TimeoutError")), timeoutMs);
  const { signal } = deadline;
  try {
    const { origin, pathname, search } = receiverUrl(url, deps);
    const path = `${pathname}${search}`;
    const post = () => deps.dispatcher.request({ origin, path, method: "POST", headers, body, signal });
    const response = await beforeAbort(signal, againWhenStale(post));
    const status = response.statusCode;
    const error = failureOfStatus(status) ?? null;
    const retryAfterMs = error ? retryAfter(response.headers["retry-after"], deps.now()) : null;
    return { status, error, answer: await beginningOf(response.body), retryAfterMs };
  } catch (thrown) {
    return { status: null, error: failureOf(thrown, timeoutMs), answer: "", retryAfterMs: null };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * That a resting connection was closed just as it was used again says nothing about the receiver. The next one at rest
 * may be no better, so more than once.
 */
async function againWhenStale<T>(post: () => Promise<T>): Promise<T> {
  for (let stale = 0; ; stale++) {
    try {
      return await post();
    } catch (error) {
      const hadServed = error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
      if (!hadServed || stale === MAX_STALE) throw error;
    }
  }
}

/** undici heeds a signal only once it has a connection, and looking a name up can take long. */
function beforeAbort<T>(signal: AbortSignal, pending: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([pending, aborted]);
}

function requestHeaders(delivery: OutgoingDelivery, at: number): Record<string, string> {
  const keys = delivery.previousKey ? [delivery.key, delivery.previousKey] : [delivery.key];
  return {
    "X-API-Key": delivery.key,
    "X-Webhook-Event": delivery.event,
    "X-Webhook-Timestamp": new Date(at).toISOString(),
    "Content-Type": "application/json",
    "User-Agent": WEBHOOK_USER_AGENT,
    ...signatureHeaders(keys, delivery.id, at, delivery.body),
  };
}

/** Reads no further than what is kept. An answer that breaks off or drips past the time keeps what came. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of body) {
      parts.push(part.subarray(0, KEPT_ANSWER_BYTES - length));
      length += part.byteLength;
      if (length > KEPT_ANSWER_BYTES) break;
    }
  } catch {
    // The status has already decided.
  }
  return printable(Buffer.concat(parts));
}

/** `stream` leaves out a character that was cut in two. */
function printable(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes, { stream: true }).replace(/[^\P{Cc}\t\n\r]/gu, "\uFFFD");
  const again = Buffer.from(text);
  if (again.byteLength <= KEPT_ANSWER_BYTES) return text;
  return new TextDecoder().decode(again.subarray(0, KEPT_ANSWER_BYTES), { stream: true });
}

/** Seconds or an HTTP date (RFC 9110), from now on; null for none or nonsense. */
function retryAfter(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function masked(key: string): string {
  return `${key.slice(0, 4)}…${key.slice(-4)}`;
}
