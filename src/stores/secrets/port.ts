// The port for data that must not be in events: e-mail addresses, webhook keys, idempotent answers. Records may expire.
/** `value` is plain JSON. `expiresAt`: ISO 8601 UTC; an expired record reads as absent and is deleted by `sweep`. */
export type SecretRecord = { value: unknown; expiresAt?: string | undefined };

export interface Secrets {
  get(key: string, now: Date): Promise<unknown | undefined>;
  /** All records whose keys begin with the prefix, ordered by key. Not paged: for few records, such as one's sessions. */
  list(prefix: string, now: Date): Promise<{ key: string; value: unknown }[]>;
  /** Writes only if the key is absent or expired; returns the value that is stored afterwards. */
  putIfAbsent(key: string, record: SecretRecord, now: Date): Promise<unknown>;
  /** Overwrites an unexpired record; false when there is none, so that a record deleted meanwhile is not restored. */
  putIfPresent(key: string, record: SecretRecord, now: Date): Promise<boolean>;
  put(key: string, record: SecretRecord): Promise<void>;
  delete(key: string): Promise<void>;
  /** Deletes the record and returns its value; of several concurrent callers one gets it, the others undefined. */
  take(key: string, now: Date): Promise<unknown | undefined>;
  /** Deletes expired records; returns how many. */
  sweep(now: Date): Promise<number>;
  close(): Promise<void>;
}

/** A record as stored, expired or not. `value` is plain JSON: under encryption a text. */
export type StoredSecret = { key: string; value: unknown; expiresAt?: string | undefined };

/** What an adapter implements: Secrets, and what re-encryption needs (reencrypt.ts). */
export interface SecretStore extends Secrets {
  /** The next records after a key, in the order of keys; from the first one when `after` is empty. */
  page(after: string, limit: number): Promise<StoredSecret[]>;
  /** Compare-and-swap of the value, with the same expiry; false when the record has another value by now. */
  replace(secret: StoredSecret, value: unknown): Promise<boolean>;
  /** Deletes the record; false when it has another value by now. */
  remove(secret: StoredSecret): Promise<boolean>;
}

/** Upper bound of the keys that begin with the prefix. */
export function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
