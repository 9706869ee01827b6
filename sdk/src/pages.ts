// Lists as one sequence: asks for page after page while somebody reads on.
import type { Client, ParamsOption } from "openapi-fetch";
import type { paths } from "./api.ts";
import { dataOf } from "./errors.ts";

type GetOf<P extends keyof paths> = paths[P] extends { get: infer Get } ? Get : never;
type PageOf<P extends keyof paths> =
  GetOf<P> extends { responses: { 200: { content: { "application/json": infer Page } } } } ? Page : never;

/** The paths that answer pages with a `next_cursor`. */
export type PagedPath = {
  [P in keyof paths]: [PageOf<P>] extends [{ next_cursor: string | null }]
    ? [PageOf<P>] extends [never]
      ? never
      : P
    : never;
}[keyof paths];

/** What the pages of a path are made of. */
export type ItemOf<P extends PagedPath> = Extract<PageOf<P>[keyof PageOf<P>], readonly unknown[]>[number];

export type PagesInit<P extends PagedPath> = ParamsOption<GetOf<P>> & { signal?: AbortSignal };

type AnyPage = { next_cursor: string | null } & Record<string, unknown>;
type AnyInit = { params?: { query?: object }; signal?: AbortSignal };

/** @throws LinkledgerError when a page is refused */
export async function* itemsOf<P extends PagedPath>(
  client: Client<paths>,
  path: P,
  init: PagesInit<P>,
): AsyncGenerator<ItemOf<P>, void, undefined> {
  const { params, ...rest } = init as AnyInit;
  const get = client.GET as (path: P, init: object) => Promise<{ data: AnyPage; response: Response }>;
  let cursor: string | null | undefined;
  do {
    const query = { ...params?.query, ...(cursor !== undefined && { cursor }) };
    const page = await dataOf(get(path, { ...rest, params: { ...params, query } }));
    const items = Object.values(page).find(Array.isArray) as ItemOf<P>[];
    yield* items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
