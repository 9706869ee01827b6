// A request as tests make it, and its answer.
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export type Answer<T> = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: Buffer;
  body: T;
};

export type Ask = {
  method?: string;
  key?: string;
  /** The Host header; the base host by default. */
  host?: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text already. */
  body?: unknown;
};

/** A request that hangs fails by its own name, before the time-out of a hook or a test that says nothing. */
const UNANSWERED_MS = 120_000;

const MOST_TRIES = 20;

/** As a client does that is told when to try again: on a slow server documents may be behind for longer than an answer waits. */
export async function onceReadable<T>(asking: () => Promise<Answer<T>>): Promise<Answer<T>> {
  for (let tries = 1; ; tries++) {
    const answer = await asking();
    const { code } = (answer.body ?? {}) as { code?: unknown };
    if (answer.status !== 503 || code !== "links_behind" || tries === MOST_TRIES) return answer;
    await pause(Number(answer.headers["retry-after"]) * 1_000);
  }
}

/** `node:http` and not fetch: it sends any Host and any path as they are. */
export function send<T>(port: number, path: string, given: Ask): Promise<Answer<T>> {
  const text =
    given.body === undefined || typeof given.body === "string" ? given.body : JSON.stringify(given.body);
  const headers: Record<string, string> = { host: given.host ?? "localhost", ...given.headers };
  if (given.key !== undefined) headers["x-api-key"] = given.key;
  if (text !== undefined) {
    headers["content-type"] ??= "application/json";
    headers["content-length"] ??= String(Buffer.byteLength(text as string));
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      path,
      method: given.method ?? "GET",
      headers,
      agent: false,
      signal: AbortSignal.timeout(UNANSWERED_MS),
    });
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const isJson = response.headers["content-type"]?.startsWith("application/json") && bytes.length > 0;
        const body = (isJson ? JSON.parse(bytes.toString()) : undefined) as T;
        const status = response.statusCode ?? 0;
        resolve({ status, headers: response.headers, text: bytes.toString(), bytes, body });
      });
    });
    request.end(text);
  });
}
