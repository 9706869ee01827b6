// Keys that were deactivated a moment ago: refused at once, however late the documents are.
import { LRUCache } from "lru-cache";

export type RevokedKeys = {
  /** For as long as this process lives: a key is deactivated for good. */
  add(keyId: string): void;
  has(keyId: string): boolean;
};

/** Far more than are deactivated while a projection is behind. */
const MOST_KEPT = 100_000;

export function revokedKeys(): RevokedKeys {
  const revoked = new LRUCache<string, true>({ max: MOST_KEPT });
  return {
    add: (keyId) => void revoked.set(keyId, true),
    has: (keyId) => revoked.has(keyId),
  };
}
