// What must never be in an event: e-mail, webhook keys, idempotent answers. Mutable, and may expire.

/** `value` is plain JSON. `expiresAt` ISO 8601 UTC; an expired record reads as absent and is destroyed by `sweep`. */
export type SecretRecord = { value: unknown; expiresAt?: string | undefined };

export interface Secrets {
  get(key: string, now: Date): Promise<unknown | undefined>;
  /** What is kept under keys that begin with the prefix, ordered by key; meant for a person's few, such as sessions. */
  list(prefix: string, now: Date): Promise<{ key: string; value: unknown }[]>;
  /** Writes only if the key is absent or expired; answers what is stored afterwards, own or earlier. */
  putIfAbsent(key: string, record: SecretRecord, now: Date): Promise<unknown>;
  /** Writes only over a record that lives, so that what was deleted meanwhile is not written back; false when it was. */
  putIfPresent(key: string, record: SecretRecord, now: Date): Promise<boolean>;
  put(key: string, record: SecretRecord): Promise<void>;
  delete(key: string): Promise<void>;
  /** Deletes and answers what was deleted, undefined for nothing; of several at the same time one gets it. */
  take(key: string, now: Date): Promise<unknown | undefined>;
  /** Destroys what has expired, so that it is gone for good, not only hidden; answers how many. */
  sweep(now: Date): Promise<number>;
  close(): Promise<void>;
}

/** As it lies in the store, expired or not. `value` is plain JSON, most often a text that only SECRET_KEY opens. */
export type StoredSecret = { key: string; value: unknown; expiresAt?: string | undefined };

/** What an adapter is: secrets, and what it takes to encrypt those that are stored under another key (reencrypt.ts). */
export interface SecretStore extends Secrets {
  /** The next records after a key, ordered by key; `after` empty: from the first. */
  page(after: string, limit: number): Promise<StoredSecret[]>;
  /** Another value for the record, its expiry kept, if it still has this one; else false. */
  replace(secret: StoredSecret, value: unknown): Promise<boolean>;
  /** Deletes the record if it still has this value; else false. */
  remove(secret: StoredSecret): Promise<boolean>;
}
