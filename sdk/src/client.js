// The client: every call of the API with its types, and what programs would have to write around it.
import createClient from "openapi-fetch";
import { followEvents } from "./events.js";
import { itemsOf } from "./pages.js";
import { retryingFetch } from "./retries.js";

export { dataOf, LinkledgerError } from "./errors.js";

/** `GET`, `POST`, `PATCH` and `DELETE` are those of openapi-fetch: they resolve to `{ data, error, response }`. */
export function linkledger({ baseUrl, key, fetch, ...retrying }) {
  const root = baseUrl.replace(/\/+$/, "");
  const send = fetch ?? ((request) => globalThis.fetch(request));
  const headers = { "X-API-Key": key };
  const client = createClient({ baseUrl: root, headers, fetch: retryingFetch(send, retrying) });
  return Object.assign(client, {
    items: (path, ...[init]) => itemsOf(client, path, init ?? {}),
    events: (options = {}) => followEvents({ baseUrl: root, key, fetch: send }, options),
  });
}
