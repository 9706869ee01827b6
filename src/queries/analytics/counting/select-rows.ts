// Which rows of a click table a question counts: a predicate over its columns, as of a position of the log.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import { withdrawnRows } from "../../../projections/definitions/click-tables/decode-chunk.ts";
import type { ChunkRows } from "../../../projections/definitions/click-tables/table.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { Filters, GroupBy } from "../question.ts";
import type { TimeZone } from "../time-zone.ts";
import { columnOf, comparable, isLocal, localValues, type TagsOf, valuesOf } from "./group-values.ts";

/** [from, to) in milliseconds. `asOf`: without rows that were withdrawn at this position. */
export type RowFilter = {
  from: number;
  to: number;
  kinds: readonly ClickKind[];
  filters: Filters;
  zone: TimeZone;
  asOf: Position;
};

/** Indexes of the rows, in their order. `tagsOf`: of the present tags of links. */
export function selectRows(
  { chunk, from: firstRow, to: endRow }: ChunkRows,
  filter: RowFilter,
  tagsOf: TagsOf,
): Uint32Array {
  const { from, to, asOf } = filter;
  const { at } = chunk;
  const selected = new Uint32Array(endRow - firstRow);
  for (let n = 0; n < selected.length; n++) selected[n] = firstRow + n;
  let count = selected.length;
  const keep = (isWanted: (row: number) => boolean) => {
    let kept = 0;
    for (let n = 0; n < count; n++) {
      const row = selected[n] as number;
      if (isWanted(row)) selected[kept++] = row;
    }
    count = kept;
  };
  if (from > chunk.firstAt || to <= chunk.lastAt)
    keep((row) => (at[row] as number) >= from && (at[row] as number) < to);
  for (const [field, isWanted] of columnTests(filter, tagsOf)) {
    const { values, rows: codes } = chunk.columns[columnOf(field) ?? "link"];
    const fits = new Uint8Array(values.length);
    for (let code = 0; code < fits.length; code++) fits[code] = Number(isWanted(values[code] as string));
    if (!fits.includes(1)) return selected.subarray(0, 0);
    if (fits.includes(0)) keep((row) => fits[codes[row] as number] === 1);
  }
  for (const [field, values] of Object.entries(filter.filters))
    if (isLocal(field as GroupBy)) {
      const valueAt = localValues(field as "hour", filter.zone);
      keep((row) => values.includes(valueAt(at[row] as number)));
    }
  const withdrawn = withdrawnRows(chunk, asOf);
  if (withdrawn) keep((row) => withdrawn[row] === 0);
  // Without the memory of those that were left out.
  return count === selected.length ? selected : selected.slice(0, count);
}

/** Whether a text of a field's column is wanted. */
function columnTests({ kinds, filters }: RowFilter, tagsOf: TagsOf): [GroupBy, (text: string) => boolean][] {
  const tests: [GroupBy, (text: string) => boolean][] = [];
  if (kinds.length < CLICK_KINDS.length) tests.push(["kind", (text) => kinds.includes(text as ClickKind)]);
  for (const [name, wanted] of Object.entries(filters)) {
    const field = name as GroupBy;
    if (isLocal(field)) continue;
    const set = new Set(wanted.map((value) => comparable(field, value)));
    tests.push([
      field,
      (text) => valuesOf(field, text, tagsOf).some((value) => set.has(comparable(field, value))),
    ]);
  }
  return tests;
}
