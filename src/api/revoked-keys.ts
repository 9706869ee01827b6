// Keys that were deactivated a moment ago: refused at once, however late the documents are.
import { LRUCache } from "lru-cache";
import type { KeyCaller } from "./key-guard.ts";

export type RevokedKeys = {
  /** For as long as this process lives: a key is deactivated for good. */
  add(keyId: string): void;
  /** The caller, unless the key was deactivated. */
  refuse(caller: KeyCaller | undefined): KeyCaller | undefined;
};

/** Far more than are deactivated while a projection is behind. */
const MOST_KEPT = 100_000;

export function revokedKeys(): RevokedKeys {
  const revoked = new LRUCache<string, true>({ max: MOST_KEPT });
  return {
    add: (keyId) => void revoked.set(keyId, true),
    refuse: (caller) => (caller && revoked.has(caller.keyId) ? undefined : caller),
  };
}
