// The client: every call of the API with its types, and what programs would have to write around it.
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./api.ts";
import { type FollowOptions, followEvents, type LinkledgerEvent } from "./events.ts";
import { type ItemOf, itemsOf, type PagedPath, type PagesInit } from "./pages.ts";
import { type RetryOptions, retryingFetch } from "./retries.ts";

export type { components, operations, paths } from "./api.ts";
export { dataOf, LinkledgerError } from "./errors.ts";
export type { FollowOptions, ItemOf, LinkledgerEvent, PagedPath, PagesInit };

export type LinkledgerOptions = RetryOptions & {
  /** Of the service, such as `https://lnk.example`. */
  baseUrl: string;
  /** An API key. */
  key: string;
  /** In place of the global one. */
  fetch?: (request: Request) => Promise<Response>;
};

type Arguments<T> = Record<string, never> extends T ? [init?: T] : [init: T];

export type Linkledger = Client<paths> & {
  /** The items of a list, page after page: `for await (const link of client.items("/api/v1/links"))`. */
  items<P extends PagedPath>(
    path: P,
    ...init: Arguments<PagesInit<P>>
  ): AsyncGenerator<ItemOf<P>, void, undefined>;
  /** The account's events, those to come included: it ends with the signal, or when the loop is left. */
  events(options?: FollowOptions): AsyncGenerator<LinkledgerEvent, void, undefined>;
};

/** `GET`, `POST`, `PATCH` and `DELETE` are those of openapi-fetch: they resolve to `{ data, error, response }`. */
export function linkledger({ baseUrl, key, fetch, ...retrying }: LinkledgerOptions): Linkledger {
  const root = baseUrl.replace(/\/+$/, "");
  const send = fetch ?? ((request: Request) => globalThis.fetch(request));
  const headers = { "X-API-Key": key };
  const client = createClient<paths>({ baseUrl: root, headers, fetch: retryingFetch(send, retrying) });
  return Object.assign(client, {
    items: <P extends PagedPath>(path: P, ...[init]: Arguments<PagesInit<P>>) =>
      itemsOf(client, path, (init ?? {}) as PagesInit<P>),
    events: (options: FollowOptions = {}) => followEvents({ baseUrl: root, key, fetch: send }, options),
  });
}
