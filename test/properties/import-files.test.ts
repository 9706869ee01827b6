// However a file of records is written, by a spreadsheet, a database or page by page from an API, its import reads the same.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { text } from "../../src/import/fields.ts";
import { readRows } from "../../src/import/read-rows.ts";
import { effort } from "../support/runtime/effort.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const NAMES = ["keyword", "url", "title"] as const;
type Cells = readonly [string, string, string | null];

const AWKWARD = `NULL|\\N|null|"|""|a "b" c|;|,|\t|a;b,c\td|two\nlines|\r\n|'|\\|{|}{|{"a":1}|[|]\\|\ufeff|a\u2028b|\u0085|0000-00-00`;
const cell = fc.oneof(fc.constantFrom(...AWKWARD.split("|")), fc.string({ unit: "grapheme", maxLength: 12 }));
const rows: fc.Arbitrary<Cells[]> = fc.array(fc.tuple(cell, cell, fc.option(cell, { nil: null })), {
  minLength: 1,
  maxLength: 12,
});

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** What the import of the file finds in its records. */
async function found(content: string) {
  const file = join(folder.path, randomUUID());
  await writeFile(file, content);
  const read = await Array.fromAsync(readRows(file));
  expect(read.filter((row) => "error" in row)).toEqual([]);
  expect(new Set(read.map(({ place }) => place)).size).toBe(read.length);
  return read.map((row) => ("error" in row ? [] : NAMES.map((name) => text(row.record, name))));
}

const meant = (given: readonly Cells[]) => given.map((cells) => cells.map((one) => one?.trim() || undefined));

describe("a file of records", () => {
  it("reads the same by commas, semicolons and tabs, in quotes or not, with any word for nothing", async () => {
    const writing = fc.record({
      delimiter: fc.constantFrom(",", ";", "\t"),
      end: fc.constantFrom("\n", "\r\n"),
      nothing: fc.constantFrom("", "NULL", "\\N"),
      inQuotes: fc.boolean(),
      bom: fc.constantFrom("", "\ufeff"),
    });
    await fc.assert(
      fc.asyncProperty(rows, writing, async (given, { delimiter, end, nothing, inQuotes, bom }) => {
        const written = (value: string | null) => {
          if (value === null) return nothing;
          const isPlain = !inQuotes && /^[\w .-]*$/.test(value) && value !== "NULL";
          return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
        };
        const lines = [NAMES.map(written), ...given.map((cells) => cells.map(written))];
        const content = lines.map((line) => line.join(delimiter)).join(end);
        const texts = meant(given).map((cells) => cells.map((one) => (one === "\\N" ? undefined : one)));
        // Rows of separators alone are none.
        const expected = texts.filter((cells) => cells.some(Boolean));
        expect(await found(`${bom}${content}${end}`)).toEqual(expected);
      }),
      { numRuns: effort(100, 300) },
    );
  });

  it("reads the same line by line, as a list, and as pages one after the other", async () => {
    const writing = fc.record({
      page: fc.constantFrom("list", "links", "data", "records"),
      size: fc.integer({ min: 1, max: 5 }),
      indent: fc.constantFrom(undefined, 2),
      between: fc.constantFrom("", " ", "\n", "\r\n", "\n\ufeff"),
      bom: fc.constantFrom("", "\ufeff"),
    });
    await fc.assert(
      fc.asyncProperty(rows, writing, async (given, { page, size, indent, between, bom }) => {
        const records = given.map((cells) => Object.fromEntries(NAMES.map((name, n) => [name, cells[n]])));
        const pages = Array.from({ length: Math.ceil(records.length / size) }, (_, n) =>
          records.slice(n * size, (n + 1) * size),
        );
        const values = pages.flatMap((list): unknown[] => {
          if (page === "records") return list;
          return [page === "list" ? list : { [page]: list, pagination: { next: "" } }];
        });
        const content = values.map((value) => JSON.stringify(value, null, indent)).join(between);
        expect(await found(`${bom}${content}\n`)).toEqual(meant(given));
      }),
      { numRuns: effort(100, 300) },
    );
  });
});
