// The api role: what the REST routes ask, decide and write with.
import type { ApiDeps } from "../app.ts";
import { findCaller } from "../queries/find-caller.ts";
import type { Opening } from "./opening.ts";
import type { Writing } from "./writing.ts";

export function openApi({ clock, backend }: Opening, { links, rateLimits, fresh }: Writing): ApiDeps {
  const { readStore } = backend;
  const { keysAreCurrent, wrote, ownWritesAreReadable } = fresh;
  return {
    keys: { clock, rateLimits, findCaller: (keyHash) => findCaller({ readStore }, keyHash), keysAreCurrent },
    links,
    wrote,
    ownWritesAreReadable,
  };
}
