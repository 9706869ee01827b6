// Joins batches of events in columns (port.ts), so that appends and stored batches can be merged without their events.
import { cellOf, collapsed, eventsOf, isColumns } from "./event-columns.ts";
import type { ColumnGroup, EventColumns, NewEvents } from "./port.ts";

/** One batch of all, in their order: in columns if all are, of one kind and writer. At least one batch. */
export function joinedEvents(batches: readonly NewEvents[]): NewEvents {
  const [first] = batches;
  if (first && batches.length === 1) return first;
  const columns = batches.filter(isColumns);
  if (columns.length < batches.length || !columns.every((one) => areAlike(one, columns[0] as EventColumns)))
    return batches.flatMap((batch) => eventsOf(batch));
  return joinedColumns(columns);
}

/** Whether `joinedEvents` keeps both in the form that they have. */
export function areAlike(a: NewEvents, b: NewEvents): boolean {
  if (!isColumns(a) || !isColumns(b)) return isColumns(a) === isColumns(b);
  return a.writer === b.writer && shapeOf(a) === shapeOf(b);
}

function shapeOf({ type, schemaVersion, actor, members, timeMember, groups }: EventColumns): string {
  const grouped = groups.map((group) => group.members);
  return JSON.stringify({ type, schemaVersion, actor, members, timeMember, grouped });
}

function joinedColumns(batches: readonly EventColumns[]): EventColumns {
  const first = batches[0] as EventColumns;
  return {
    ...first,
    times: joinedDifferences(batches.map(({ times }) => times)),
    numbers: joinedDifferences(batches.map(({ numbers }) => numbers)),
    groups: first.groups.map(({ members }, g) => ({
      members,
      ...joinedRows(batches.map(({ groups, times }) => [groups[g] as ColumnGroup, times.length])),
    })),
  };
}

function joinedDifferences(lists: readonly number[][]): number[] {
  let sum = 0;
  return lists.flatMap((differences) =>
    differences.map((difference, n) => {
      const step = n === 0 ? difference - sum : difference;
      sum += step;
      return step;
    }),
  );
}

/** `groups`: of each batch, with the number of its events. Rows with the same JSON become one. */
function joinedRows(groups: readonly (readonly [ColumnGroup, number])[]): Omit<ColumnGroup, "members"> {
  const found = new Map<string, number>();
  const values: unknown[][] = (groups[0]?.[0].values ?? []).map(() => []);
  const joined: number[] = [];
  for (const [{ values: columns, each }, count] of groups) {
    const rows = Math.max(...columns.map(({ length }) => length));
    const numbers = Array.from({ length: rows }, (_, row) => {
      const cells = columns.map((column) => cellOf(column, row));
      const key = JSON.stringify(cells);
      const known = found.get(key);
      if (known !== undefined) return known;
      for (const [m, cell] of cells.entries()) values[m]?.push(cell);
      found.set(key, found.size);
      return found.size - 1;
    });
    for (let n = 0; n < count; n++)
      joined.push((each ? numbers[each[n] as number] : numbers[rows === 1 ? 0 : n]) as number);
  }
  // Not by their number alone: a batch may hold rows in another order, or rows that no event has.
  const isPlain =
    found.size === 1 || (found.size === joined.length && joined.every((row, event) => row === event));
  return { values: values.map(collapsed), ...(!isPlain && { each: joined }) };
}
