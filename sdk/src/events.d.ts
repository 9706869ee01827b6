import type { components } from "./api.js";
export type LinkledgerEvent = components["schemas"]["Event"];
export type FollowOptions = {
  /** The `position` of the last event that was processed; without one it begins with the account's first event. */
  after?: string;
  /** Only events of these types. */
  types?: readonly LinkledgerEvent["type"][];
  /** Ends the sequence. */
  signal?: AbortSignal;
};
export type Connection = {
  baseUrl: string;
  key: string;
  fetch: (request: Request) => Promise<Response>;
};
/** @throws LinkledgerError for a refusal that does not pass, such as of the key */
export declare function followEvents(
  { baseUrl, key, fetch }: Connection,
  { after, types, signal }: FollowOptions,
): AsyncGenerator<LinkledgerEvent, void, undefined>;
/**
 * The messages of any stream of the service, each with the position that continues behind it.
 * @throws LinkledgerError
 */
export declare function followStream(
  connection: Connection,
  path: string,
  options: Pick<FollowOptions, "after" | "signal">,
): AsyncGenerator<{ position: string | undefined; data: unknown }, void, undefined>;
