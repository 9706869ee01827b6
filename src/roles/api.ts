// The api role: what the REST routes ask, decide and write with.
import { keyUsage } from "../api/key-usage.ts";
import { revokedKeys } from "../api/revoked-keys.ts";
import type { ApiDeps } from "../app.ts";
import { findCaller } from "../queries/find-caller.ts";
import { recentlyIssuedKeys } from "../queries/recently-issued-keys.ts";
import type { HeardChanges } from "./changes.ts";
import type { Opening } from "./opening.ts";
import type { Writing } from "./writing.ts";

export type ApiRole = ApiDeps & { changes: HeardChanges };

export function openApi({ log, clock, backend }: Opening, { links, rateLimits, fresh }: Writing): ApiRole {
  const { eventStore, readStore, secrets } = backend;
  const usage = keyUsage({ secrets, clock, log });
  const { wrote, writesAreReadable } = fresh;
  const revoked = revokedKeys();
  return {
    keys: {
      ...{ clock, rateLimits, usage, isRevoked: revoked.has },
      findCaller: (keyHash) => findCaller({ readStore }, keyHash),
      findRecentCaller: recentlyIssuedKeys({ eventStore, readStore }),
    },
    links,
    wrote,
    writesAreReadable,
    changes: {
      events: { keyDeactivated: revoked.add },
      news: ({ topic, id, position }) => {
        if (topic === "key") revoked.add(id);
        // What was told at one node is asked of another.
        if (topic === "link") wrote(position);
      },
    },
  };
}
