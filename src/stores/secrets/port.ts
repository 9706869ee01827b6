// The port for data that must not be in events: e-mail addresses, webhook keys, idempotent answers; and what its adapters
// implement, which knows nothing of keys and values.
import { DomainError } from "../../runtime/errors.ts";

/** `value` is plain JSON. `expiresAt`: ISO 8601; an expired record reads as absent and is deleted by `sweep`. */
export type SecretRecord = { value: unknown; expiresAt?: string | undefined };

export interface Secrets {
  get(key: string, now: Date): Promise<unknown | undefined>;
  /** All records whose keys begin with the prefix, ordered by key: for few records, such as one's sessions. */
  list(prefix: string, now: Date): Promise<{ key: string; value: unknown }[]>;
  /** Writes only if the key is absent or expired; returns the value that is stored afterwards. */
  putIfAbsent(key: string, record: SecretRecord, now: Date): Promise<unknown>;
  /**
   * Overwrites an unexpired record; false when there is none, so that a record deleted meanwhile is not restored. With
   * `expected` only while that is its value.
   */
  putIfPresent(key: string, record: SecretRecord, now: Date, expected?: unknown): Promise<boolean>;
  put(key: string, record: SecretRecord): Promise<void>;
  delete(key: string): Promise<void>;
  /** Deletes the record and returns its value; of several concurrent callers one gets it, the others undefined. */
  take(key: string, now: Date): Promise<unknown | undefined>;
  /** Deletes expired records; returns how many. */
  sweep(now: Date): Promise<number>;
  close(): Promise<void>;
}

/** A record as stored, expired or not. `value`: sealed, never the same twice. `expiresAt`: ISO 8601 UTC with milliseconds. */
export type StoredSecret = { name: string; value: string; expiresAt?: string | undefined };

/** What an adapter implements; expired records are there until they are swept. */
export interface SecretStore {
  get(name: string): Promise<StoredSecret | undefined>;
  /** The records whose names begin with `prefix` and come after `after`, in the order of names, at most `limit`. */
  page(prefix: string, after: string, limit: number): Promise<StoredSecret[]>;
  /** Writes `after` while the record of its name is `before`, or while there is none; false otherwise. */
  swap(before: StoredSecret | undefined, after: StoredSecret): Promise<boolean>;
  /** Deletes the record, or only while it has that value; whether there was one. */
  remove(name: string, value?: string): Promise<boolean>;
  /** Deletes records that have expired by `now`; returns how many. */
  sweep(now: Date): Promise<number>;
  close(): Promise<void>;
}

/** Upper bound of the names that begin with the prefix. */
export function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

/** The key of a stored secret is known, but the text was changed, or copied from a record of another name. */
export class SecretDamaged extends DomainError {
  override readonly code = "secret_damaged";
  constructor(name: string, cause?: unknown) {
    super(`The secret ${name} is damaged: it can't be decrypted`, { cause });
  }
}
