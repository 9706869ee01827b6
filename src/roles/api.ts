// The api role: what the REST routes ask, decide and write with.

import { keyUsage } from "../api/key-usage.ts";
import type { ApiDeps } from "../app.ts";
import { findCaller } from "../queries/find-caller.ts";
import type { Opening } from "./opening.ts";
import type { Writing } from "./writing.ts";

export function openApi({ log, clock, backend }: Opening, { links, rateLimits, fresh }: Writing): ApiDeps {
  const { readStore, secrets } = backend;
  const usage = keyUsage({ secrets, clock, log });
  const { keysAreCurrent, wrote, ownWritesAreReadable } = fresh;
  return {
    keys: {
      ...{ clock, rateLimits, keysAreCurrent, usage },
      findCaller: (keyHash) => findCaller({ readStore }, keyHash),
    },
    links,
    wrote,
    ownWritesAreReadable,
  };
}
