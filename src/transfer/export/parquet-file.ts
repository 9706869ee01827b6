// Clicks as a Parquet file, for DuckDB and the like: written in row groups, so that memory doesn't grow with the file.
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { type ClickColumn, type ClickRow, cellOf } from "./click-lines.ts";

/** Rows that are held in memory. */
const ROW_GROUP = 10_000;

/** `at` is a UTC timestamp in milliseconds, all other columns are text. Replaces a file that is there. */
export async function writeParquet(
  file: string,
  columns: readonly ClickColumn[],
  pages: AsyncIterable<readonly ClickRow[]>,
): Promise<void> {
  const fields = columns.map(([name]) =>
    name === "at"
      ? { name, type: "INT64", converted_type: "TIMESTAMP_MILLIS", repetition_type: "REQUIRED" }
      : { name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
  );
  const schema = [{ name: "clicks", num_children: fields.length }, ...fields];
  const writer = new ParquetWriter({
    writer: fileWriter(file),
    schema: schema as ConstructorParameters<typeof ParquetWriter>[0]["schema"],
  });
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
  }
  if (rows.length > 0) await writeGroup(rows);
  await writer.finish();
}
