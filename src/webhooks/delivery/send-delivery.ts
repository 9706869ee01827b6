// Makes one attempt to deliver an event to a receiver (interface, part 6) and reports its outcome.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { SecretsInUse } from "../../commands/webhooks/signing-key.ts";
import { parseHttpDate } from "../../runtime/moment.ts";
import { receiverUrl } from "../receiver/receiver-url.ts";
import { failureOf, failureOfStatus, type RequestFailure } from "../receiver/request-failure.ts";
import { type SafeAgents, type SafeAgentsDeps, safeAgents } from "../receiver/safe-agents.ts";
import { deliveryHeaders } from "./sign.ts";

const DELIVERY_TIMEOUT_MS = 15_000;
const KEPT_ANSWER_BYTES = 2048;
const MAX_STALE = 3;
/** At either end. */
const SHOWN_OF_KEY = 4;

export type DeliverySenderDeps = SafeAgentsDeps & {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Limit for the whole attempt, from the DNS lookup to the end of the answer; default 15 s. */
  timeoutMs?: number | undefined;
};

export type DeliverySender = {
  /** Never rejects: failures are results. A 2xx status within the time limit is a success. */
  send(delivery: OutgoingDelivery): Promise<AttemptResult>;
  /** Closes all connections, including those in use. */
  destroy(): void;
};

export type OutgoingDelivery = {
  url: string;
  /** Of which the first is the current one, whose key is X-API-Key; a rotation adds signatures by the one before it. */
  secrets: SecretsInUse;
  /** The same for every attempt, so that receivers can recognise duplicates. */
  id: string;
  /** Kind of webhook event, such as `link.clicked`. */
  event: string;
  /** Its UTF-8 bytes are signed and sent. */
  body: string;
};

export type AttemptResult = {
  /** ISO 8601 UTC; the time in X-Webhook-Timestamp and webhook-timestamp. */
  at: string;
  durationMs: number;
  /** null when no answer came. */
  status: number | null;
  /** null if and only if it was delivered. */
  error: RequestFailure | null;
  /** The beginning of the answer's body, at most 2 KB, without control characters, the key masked. */
  answer: string;
  /** From the answer's Retry-After; not negative, no upper limit. */
  retryAfterMs: number | null;
  /** As sent, with the key masked, because the delivery log shows them. */
  requestHeaders: Record<string, string>;
};

export function deliverySender(deps: DeliverySenderDeps): DeliverySender {
  const agents = safeAgents(deps);
  return {
    async send(delivery) {
      const at = deps.now();
      const headers = requestHeaders(delivery, at);
      const answer = await attempt(deps, agents, delivery, headers);
      return {
        at: new Date(at).toISOString(),
        durationMs: Math.max(0, Math.round(deps.now() - at)),
        ...answer,
        requestHeaders: { ...headers, "X-API-Key": masked(delivery.secrets[0].key) },
      };
    },
    destroy: agents.destroy,
  };
}

type Answer = Pick<AttemptResult, "status" | "error" | "answer" | "retryAfterMs">;

async function attempt(
  deps: DeliverySenderDeps,
  agents: SafeAgents,
  { url, secrets, body }: OutgoingDelivery,
  headers: Record<string, string>,
): Promise<Answer> {
  const timeoutMs = deps.timeoutMs ?? DELIVERY_TIMEOUT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException("Too late", "TimeoutError")), timeoutMs);
  try {
    const to = receiverUrl(url, deps);
    const response = await postOnOpenConnection({ to, agents, headers, body, signal: deadline.signal });
    const status = response.statusCode ?? 0;
    const error = failureOfStatus(status) ?? null;
    const retryAfterMs = error ? retryAfter(response.headers["retry-after"], deps.now()) : null;
    const answer = withoutKey(await beginningOf(response), secrets[0].key);
    return { status, error, answer, retryAfterMs };
  } catch (thrown) {
    return { status: null, error: failureOf(thrown, timeoutMs), answer: "", retryAfterMs: null };
  } finally {
    clearTimeout(timer);
  }
}

type Post = {
  to: URL;
  agents: SafeAgents;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
};

/** The receiver closed the keep-alive connection at the moment of its reuse. */
class StaleConnection extends Error {}

/** Repeats a post on a stale connection, which is no failure of the receiver; several of the pool may be stale. */
async function postOnOpenConnection(request: Post): Promise<IncomingMessage> {
  for (let stale = 0; ; stale++) {
    try {
      return await post(request);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      if (stale === MAX_STALE) throw error.cause;
    }
  }
}

/** Resolves at the answer's status and headers; 100 Continue and other interim answers are passed (RFC 9110, 15.2). */
function post({ to, agents, headers, body, signal }: Post): Promise<IncomingMessage> {
  const isSecure = to.protocol === "https:";
  const agent = isSecure ? agents.https : agents.http;
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(to, { method: "POST", headers, agent });
    const abort = () => void request.destroy(signal.reason);
    let readBefore = 0;
    request.once("socket", ({ bytesRead }) => {
      readBefore = bytesRead;
    });
    request.once("response", resolve);
    // 101, which nobody asked for.
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      response.destroy();
      resolve(response);
    });
    request.on("error", (error) => {
      // Once an answer has begun, the receiver has seen the request.
      const isUnanswered = request.socket?.bytesRead === readBefore;
      const isStale = request.reusedSocket && isUnanswered && !signal.aborted;
      reject(isStale ? new StaleConnection("stale", { cause: error }) : error);
    });
    request.once("close", () => signal.removeEventListener("abort", abort));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    request.end(body);
  });
}

function requestHeaders(delivery: OutgoingDelivery, at: number): Record<string, string> {
  const { secrets } = delivery;
  return { "X-API-Key": secrets[0].key, ...deliveryHeaders(secrets, delivery, at) };
}

/** Reads only as much as is stored. If the connection breaks or the time is over, what has arrived is kept. */
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
    // The status alone decides about success.
  }
  return printable(Buffer.concat(parts));
}

/** Decoding with `stream` drops an incomplete UTF-8 sequence at the end instead of replacing it. */
function printable(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes, { stream: true }).replace(/[^\P{Cc}\t\n\r]/gu, "\uFFFD");
  const encoded = Buffer.from(text);
  if (encoded.byteLength <= KEPT_ANSWER_BYTES) return text;
  return new TextDecoder().decode(encoded.subarray(0, KEPT_ANSWER_BYTES), { stream: true });
}

/** Milliseconds from now, from seconds or an HTTP date (RFC 9110); null when missing or invalid. */
function retryAfter(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text);
  return date ? Math.max(0, date.getTime() - now) : null;
}

function masked(key: string): string {
  return `${key.slice(0, SHOWN_OF_KEY)}…${key.slice(-SHOWN_OF_KEY)}`;
}

/** A receiver may repeat what it got, also cut off at the end of what is kept. */
function withoutKey(answer: string, key: string): string {
  const text = answer.replaceAll(key, masked(key));
  const lengths = Array.from({ length: key.length - SHOWN_OF_KEY }, (_, n) => key.length - n);
  const cut = lengths.find((length) => text.endsWith(key.slice(0, length))) ?? 0;
  return text.slice(0, text.length - cut);
}
