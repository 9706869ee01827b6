// The account's events as one endless sequence, each once and in order, over connections that break.
import { LinkledgerError } from "./errors.js";
import { messagesOf } from "./event-stream.js";
import { backoffMs, isPassing, pause, retryAfterMs } from "./retries.js";

/** Four times the interval of the service's `alive` messages. */
const SILENT_MS = 20_000;
const RECONNECT_MS = 2_000;

/** @throws LinkledgerError for a refusal that does not pass, such as of the key */
export async function* followEvents(connection, { types = [], ...options }) {
  const query = types.length === 0 ? "" : `?${new URLSearchParams({ types: types.join() })}`;
  for await (const { data } of followStream(connection, `/api/v1/events/stream${query}`, options)) yield data;
}

/**
 * The messages of any stream of the service, each with the position that continues behind it.
 * @throws LinkledgerError
 */
export async function* followStream({ baseUrl, key, fetch }, path, { after, signal }) {
  const url = `${baseUrl}${path}`;
  let position = after;
  let reconnectMs = RECONNECT_MS;
  let failures = 0;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const abort = () => connection.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    let waitMs;
    try {
      const headers = { "X-API-Key": key, ...(position !== undefined && { "Last-Event-ID": position }) };
      const response = await fetch(new Request(url, { headers, signal: connection.signal }));
      if (!response.ok || !response.body) await refuseUnlessPassing(response);
      else
        for await (const { event, id, data, retryMs } of messagesOf(response.body, SILENT_MS)) {
          failures = 0;
          reconnectMs = retryMs ?? reconnectMs;
          position = id || position;
          if (event === "message" && data !== "") yield { position, data: JSON.parse(data) };
        }
      waitMs = retryAfterMs(response);
    } catch (error) {
      if (error instanceof LinkledgerError) throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
      connection.abort();
    }
    // Without a wait it would ask a service that says 0 without end.
    await pause(waitMs || backoffMs(failures++, reconnectMs), signal).catch(() => undefined);
  }
}

async function refuseUnlessPassing(response) {
  const body = await response.json().catch(() => undefined);
  if (!isPassing(response.status)) throw new LinkledgerError(response.status, body);
}
