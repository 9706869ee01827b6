import { type Client } from "openapi-fetch";
import type { paths } from "./api.js";
import { type FollowOptions, type LinkledgerEvent } from "./events.js";
import { type ItemOf, type PagedPath, type PagesInit } from "./pages.js";
import { type RetryOptions } from "./retries.js";

export type { components, operations, paths } from "./api.js";
export { dataOf, LinkledgerError } from "./errors.js";
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
export declare function linkledger({ baseUrl, key, fetch, ...retrying }: LinkledgerOptions): Linkledger;
