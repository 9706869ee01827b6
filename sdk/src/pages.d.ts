import type { Client, ParamsOption } from "openapi-fetch";
import type { paths } from "./api.js";

type GetOf<P extends keyof paths> = paths[P] extends {
  get: infer Get;
}
  ? Get
  : never;
type PageOf<P extends keyof paths> =
  GetOf<P> extends {
    responses: {
      200: {
        content: {
          "application/json": infer Page;
        };
      };
    };
  }
    ? Page
    : never;
/** The paths that answer pages with a `next_cursor`. */
export type PagedPath = {
  [P in keyof paths]: [PageOf<P>] extends [
    {
      next_cursor: string | null;
    },
  ]
    ? [PageOf<P>] extends [never]
      ? never
      : P
    : never;
}[keyof paths];
/** What the pages of a path are made of. */
export type ItemOf<P extends PagedPath> = Extract<PageOf<P>[keyof PageOf<P>], readonly unknown[]>[number];
export type PagesInit<P extends PagedPath> = ParamsOption<GetOf<P>> & {
  signal?: AbortSignal;
};
/** @throws LinkledgerError when a page is refused */
export declare function itemsOf<P extends PagedPath>(
  client: Client<paths>,
  path: P,
  init: PagesInit<P>,
): AsyncGenerator<ItemOf<P>, void, undefined>;
