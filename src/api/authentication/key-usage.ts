// Records when each API key was last used, to the minute; as secrets, because an event for each request would flood the
// log.
import { LRUCache } from "lru-cache";
import { keyUseSecret } from "../../commands/account/secrets.ts";
import { atMost } from "../../runtime/at-most.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { Secrets } from "../../secrets/port.ts";

const WRITTEN_EVERY_MS = 60_000;
const MAX_KEYS = 50_000;
/** A last use is kept for a year. */
const KEY_USE_KEPT_MS = 366 * 86_400_000;

export type KeyUsage = {
  /** Records a use; writes at most once a minute per key and process, in the background. */
  used(keyId: string): void;
};

export function keyUsage(deps: { secrets: Secrets; clock: () => Date; log: Logger }): KeyUsage {
  const written = new LRUCache<string, number>(atMost(MAX_KEYS));
  return {
    used(keyId) {
      const now = deps.clock();
      const before = written.get(keyId);
      if (before !== undefined && now.getTime() - before < WRITTEN_EVERY_MS) return;
      written.set(keyId, now.getTime());
      const expiresAt = new Date(now.getTime() + KEY_USE_KEPT_MS).toISOString();
      deps.secrets
        .put(keyUseSecret(keyId), { value: now.toISOString(), expiresAt })
        .catch((err: unknown) => deps.log.warn({ err }, "the use of an API key was not noted"));
    },
  };
}
