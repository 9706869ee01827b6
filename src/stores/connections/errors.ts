// The errors of stores that don't answer: callers retry, go on without, or answer 503.
import { errorFields } from "../../runtime/error-fields.ts";
import { DomainError } from "../../runtime/errors.ts";

/** The store is unavailable or closed. Whether an append in flight was stored is unknown: repeat the same append. */
export class StoreUnavailable extends DomainError {
  override readonly code: string = "store_unavailable";
}

/** The store fails until an operator acts: a damaged file, refused credentials, data that can't be decoded. */
export class StoreFailed extends StoreUnavailable {
  override readonly code = "store_failed";
}

/** SQLite's words for what lasts, as its codes don't cross threads. */
const LASTING = /malformed|not a database|no such (?:table|column)|unsupported file format/;
/** What decoding throws: JSON, members that are missing, zstd. */
const UNDECODABLE = /^(?:SyntaxError|TypeError|RangeError)$|^ZSTD_error|^Z_DATA_ERROR$/;

/** The typed error of a store that failed by `cause`, an Error or the ErrorFields of another thread. */
export function storeError(message: string, cause?: unknown): StoreUnavailable {
  return new (isLasting(cause) ? StoreFailed : StoreUnavailable)(message, { cause });
}

function isLasting(cause: unknown): boolean {
  const { code, type, message } = errorFields(cause);
  const isUndecodable = UNDECODABLE.test(type) || UNDECODABLE.test(String(code));
  return code === "store_failed" || isUndecodable || LASTING.test(message);
}

/** The cause of a failed write and what the operator can do, by SQLite's words and the system's. */
export function whatToDo(error: unknown): string {
  const { message } = errorFields(error);
  if (/database or disk is full/.test(message))
    return "the disk is full (SQLITE_FULL): free some space while the service runs, it goes on by itself";
  if (/ENOSPC|no space left/i.test(message))
    return "the disk is full (ENOSPC): free some space while the service runs, it goes on by itself";
  if (/readonly database|EROFS|EACCES/.test(message))
    return "its file is read-only (SQLITE_READONLY): give the service's user the right to write DATA_DIR";
  return message;
}

/** What is read, or undefined while its store is unavailable. @throws other errors */
export async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

/** Redis, or the other process of `--workers`, is unavailable; whether a write in flight was applied is unknown. */
export class CoordinationUnavailable extends DomainError {
  override readonly code = "coordination_unavailable";
}
