// Clicks as a Parquet file, for DuckDB and the like: made in row groups, so that memory doesn't grow with the file.
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { type ClickColumn, type ClickRow, cellOf } from "./click-lines.ts";

/** Rows that are held in memory, and written at once: other work of the thread waits for some 20 ms. */
const ROW_GROUP = 2_500;

/** The parts of the file. `at` is a UTC timestamp in milliseconds, all other columns are text. */
export async function* parquetParts(
  columns: readonly ClickColumn[],
  pages: AsyncIterable<readonly ClickRow[]>,
): AsyncGenerator<Uint8Array> {
  const fields = columns.map(([name]) =>
    name === "at"
      ? { name, type: "INT64", converted_type: "TIMESTAMP_MILLIS", repetition_type: "REQUIRED" }
      : { name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
  );
  const schema = [{ name: "clicks", num_children: fields.length }, ...fields];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schema as ConstructorParameters<typeof ParquetWriter>[0]["schema"],
  });
  const drain = () => {
    const part = bytes.getBytes().slice();
    bytes.index = 0;
    return part;
  };
  const writeGroup = async (rows: readonly ClickRow[]) => {
    const columnData = columns.map((column) => ({
      name: column[0],
      data: rows.map((row) => (column[0] === "at" ? new Date(cellOf(column, row)) : cellOf(column, row))),
    }));
    await writer.write({ columnData, rowGroupSize: ROW_GROUP });
  };
  let rows: ClickRow[] = [];
  for await (const page of pages) {
    rows.push(...page);
    if (rows.length < ROW_GROUP) continue;
    await writeGroup(rows);
    rows = [];
    yield drain();
  }
  if (rows.length > 0) await writeGroup(rows);
  await writer.finish();
  yield drain();
}
