// Compares the click tables of two builds row by row, as chunks are cut where commits happened to be.
import type { Position } from "../../stores/event-store/port.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import { CHUNK_HEAD, clickTables, type Mark } from "../definitions/click-tables/chunk.ts";
import { COLUMNS } from "../definitions/click-tables/columns.ts";
import { type DecodedChunk, positionOfRow } from "../definitions/click-tables/decode-chunk.ts";
import { rowsOfTable } from "../definitions/click-tables/table.ts";
import type { BuildStore } from "../fold/build.ts";
import { type AccountDay, chunkOf, headsOf, type StoredHead } from "../fold/clicks/stored-tables.ts";
import { type FieldDifference, fieldsThatDiffer } from "./field-differences.ts";

/** `position`: of the first row that differs. */
type TableDifference = { position: Position; fields: FieldDifference[] };

const PAGE = 1_000;

/** `<account>/<day>` of those that have a table, in order. */
export async function* tablesOf(store: BuildStore): AsyncGenerator<string> {
  let last = "";
  const search = { fields: CHUNK_HEAD, limit: PAGE };
  for await (const page of documentPages<StoredHead>(store, clickTables.name, search))
    for (const { accountId, day } of page) {
      const table = `${accountId}/${day}`;
      if (table !== last) yield table;
      last = table;
    }
}

/** Of the rows recorded up to the position, as they were then; undefined where none differs. @throws what the stores throw */
export async function tableDifference(
  stored: BuildStore,
  folded: BuildStore,
  of: AccountDay,
  asOf: Position,
): Promise<TableDifference | undefined> {
  const rows = [rowsAsOf(stored, of, asOf), rowsAsOf(folded, of, asOf)] as const;
  for (;;) {
    const [next, otherNext] = await Promise.all([rows[0].next(), rows[1].next()]);
    if (next.done && otherNext.done) return undefined;
    const [row, otherRow] = [next.value || NO_ROW, otherNext.value || NO_ROW];
    const fields = fieldsThatDiffer(
      { _id: "", _position: "", ...row },
      { _id: "", _position: "", ...otherRow },
    );
    if (fields.length > 0) return { position: row.position || otherRow.position, fields };
  }
}

const NO_ROW = { position: "" };

async function* rowsAsOf(store: BuildStore, of: AccountDay, asOf: Position) {
  const chunks: DecodedChunk[] = [];
  for (const { _id } of await headsOf(store, of)) {
    const chunk = await chunkOf(store, _id);
    if (chunk) chunks.push(chunk);
  }
  for (const { chunk, from, to } of rowsOfTable(chunks, asOf)) {
    const marks = marksByRow(chunk, asOf);
    for (let row = from; row < to; row++) {
      const texts = COLUMNS.map((name) => {
        const { values, rows } = chunk.columns[name];
        return [name, values[rows[row] as number]];
      });
      yield {
        position: positionOfRow(chunk, row),
        at: chunk.at[row],
        ...Object.fromEntries(texts),
        marks: (marks.get(row) ?? []).sort(),
      };
    }
  }
}

function marksByRow({ marks }: { marks: readonly Mark[] }, asOf: Position): Map<number, string[]> {
  const byRow = new Map<number, string[]>();
  for (const { withdrawalId, from, until, rows } of marks) {
    if (from > asOf) continue;
    const mark = `${withdrawalId} from ${from}${until !== "" && until <= asOf ? ` until ${until}` : ""}`;
    for (const row of rows) byRow.set(row, [...(byRow.get(row) ?? []), mark]);
  }
  return byRow;
}
