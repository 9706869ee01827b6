// A record of a file that is read, or why it is none.
import { type DomainError, Failure } from "../../../runtime/errors.ts";
import type { Fields } from "../imported.ts";

/** `place`: where it is in the file, such as `line 17`. `columns`: of the file's first line, if it has one. */
export type Row = { place: string; record: Fields; columns?: readonly string[] };

/** What can't be read comes as the error that says so. `rows`: how many records it stands for. */
export type RowOrError = Row | { place: string; error: DomainError; rows: number };

/** What tells how a file is written. `isAll`: it has no more lines. */
export type Start = { lines: string[]; isAll: boolean };

export function unreadable(place: string, why: string, cause?: unknown, rows = 1): RowOrError {
  return { place, error: new Failure(why, { cause }), rows };
}
