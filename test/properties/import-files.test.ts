// However a file of records is written, by a spreadsheet, a database or page by page from an API, its import reads the same.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownFiles } from "../../src/cli/files.ts";
import { textOf } from "../../src/transfer/import/fields.ts";
import { bitly } from "../../src/transfer/import/formats/bitly.ts";
import { dub } from "../../src/transfer/import/formats/dub.ts";
import { kutt } from "../../src/transfer/import/formats/kutt.ts";
import { linkledger } from "../../src/transfer/import/formats/linkledger.ts";
import { plainCsv } from "../../src/transfer/import/formats/plain-csv.ts";
import { shlink } from "../../src/transfer/import/formats/shlink.ts";
import { yourls } from "../../src/transfer/import/formats/yourls.ts";
import type { FieldList, ImportFormat } from "../../src/transfer/import/imported.ts";
import { readRows } from "../../src/transfer/import/reading/read-rows.ts";
import { imported } from "../support/import/importing.ts";
import { openImport } from "../support/import/own-export.ts";
import { effort } from "../support/runtime/effort.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const NAMES = ["keyword", "url", "title"] as const;
type Cells = readonly [string, string, string | null];

const AWKWARD = `NULL|\\N|null|"|""|a "b" c|;|,|\t|a;b,c\td|two\nlines|\r\n|'|\\|{|}{|{"a":1}|[|]\\|\ufeff|a\u2028b|\u0085|0000-00-00`;
const cell = fc.oneof(fc.constantFrom(...AWKWARD.split("|")), fc.string({ unit: "grapheme", maxLength: 12 }));
/** The last has a word: a file whose every cell is blank has no records, and is refused. */
const rows: fc.Arbitrary<Cells[]> = fc
  .array(fc.tuple(cell, cell, fc.option(cell, { nil: null })), { maxLength: 11 })
  .map((some) => [...some, ["word", "", null]]);

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** What the import of the file finds in its records. */
async function found(content: string) {
  const file = join(folder.path, randomUUID());
  await writeFile(file, content);
  const read = await Array.fromAsync(readRows(ownFiles.source(file)));
  expect(read.filter((row) => "error" in row)).toEqual([]);
  expect(new Set(read.map(({ place }) => place)).size).toBe(read.length);
  return read.map((row) => ("error" in row ? [] : NAMES.map((name) => textOf(row.record, [name]))));
}

const meant = (given: readonly Cells[]) => given.map((cells) => cells.map((one) => one?.trim() || undefined));

/** Hundreds of imports. */
const PATIENCE = { timeout: 240_000 };
const SITE = "https://example.com/";
/** Each with the least that one of its links has. */
const FORMATS = {
  bitly: [bitly, { link: "bit.ly/one1", long_url: SITE }],
  dub: [dub, { domain: "dub.sh", key: "one1", url: SITE }],
  kutt: [kutt, { address: "one1", target: SITE }],
  linkledger: [
    linkledger,
    {
      ...{ type: "link", domain: null, slug: "one1", long_url: SITE, status: "live" },
      ...{ created_at: "2024-03-01T10:00:00Z", via: "web", custom: true, options: {}, changes: [] },
    },
  ],
  csv: [plainCsv, { slug: "one1", url: SITE }],
  shlink: [shlink, { shortCode: "one1", longUrl: SITE }],
  yourls: [yourls, { keyword: "one1", url: SITE }],
} as const satisfies Record<string, readonly [ImportFormat, object]>;

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(SITE, "2024-01-01", "$argon2id$v=19$m=1,t=1,p=1$x", "link", "click", "_root"),
  fc.constantFrom<unknown>([{ url: SITE, percentage: 0 }], { DE: null }, { UK: SITE }, [null], ["a", 1, {}]),
  fc.constantFrom<unknown>(
    [{ longUrl: SITE, conditions: [{ type: "device", matchValue: "__proto__" }] }],
    [{ conditions: [null] }],
    [{ when: { os: "iOS", constructor: 1 }, url: SITE }],
    [{ type: "LinkOptionsChanged", at: "2024-03-02", changes: { rules: 7 } }],
  ),
);

/** Neither a text nor a number can be made of it. */
const NO_TEXT = { toString: "x", valueOf: "y" };
const NO_TEXTS = [
  NO_TEXT,
  { DE: NO_TEXT },
  [{ url: SITE, percentage: NO_TEXT }],
  [{ priority: NO_TEXT }, {}],
];

/** A list of `visits` is a page of Shlink's API. */
function namesOf({ mapped, leftOut, refused }: FieldList): string[] {
  const names = [...Object.values(mapped).flat(), ...Object.keys(leftOut), ...Object.keys(refused)];
  return names.filter((name) => name !== "visits");
}

describe("a record of any format", () => {
  it("stops no other, where its fields hold what no text can be made of", PATIENCE, async () => {
    const own = await openImport();
    try {
      for (const [format, least] of Object.values(FORMATS)) {
        const { mapped, leftOut, refused }: FieldList = format.fields;
        const names = namesOf({ mapped, leftOut, refused });
        const records = names.flatMap((name) => NO_TEXTS.map((value) => ({ ...least, [name]: value })));
        // For tests by Dub, which have to last.
        const lasting = records.map((record) => ({
          ...record,
          ...(format === dub && { testCompletedAt: "2999-01-01" }),
        }));
        const links = join(folder.path, randomUUID());
        await writeFile(links, [least, ...lasting].map((record) => JSON.stringify(record)).join("\n"));
        const report = await imported(own.deps, own.accountId, format, ownFiles.source(links), {
          dryRun: true,
        });
        expect(report.links.created).toBe(1);
        expect(report.links.already + report.errors.length).toBe(records.length);
      }
    } finally {
      await own.close();
    }
  });

  it("is a link, or fails with a reason, whatever its fields hold", PATIENCE, async () => {
    const own = await openImport();
    const name = fc.constantFrom(...(Object.keys(FORMATS) as (keyof typeof FORMATS)[]));
    const parts = fc.array(fc.tuple(fc.nat(), anything), { minLength: 1, maxLength: 6 });
    try {
      await fc.assert(
        fc.asyncProperty(name, parts, async (name, parts) => {
          const [format, least] = FORMATS[name];
          const { mapped, leftOut, refused }: FieldList = format.fields;
          const names = namesOf({ mapped, leftOut, refused });
          const record: Record<string, unknown> = { ...least };
          for (const [n, value] of parts) record[names[n % names.length] as string] = value;
          const links = join(folder.path, randomUUID());
          await writeFile(links, `${JSON.stringify(least)}\n${JSON.stringify(record)}\n`);
          const report = await imported(own.deps, own.accountId, format, ownFiles.source(links), {
            dryRun: true,
          });
          const { created, already, failed } = report.links;
          expect(created).toBeGreaterThan(0);
          expect(created + already + failed + report.clicks.failed + report.clicks.read).toBeGreaterThan(1);
          expect(report.errors.length).toBe(failed + report.clicks.failed);
        }),
        { numRuns: effort(40, 200) },
      );
    } finally {
      await own.close();
    }
  });
});

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
        // Where one cell has \N outside of quotes, or tabs part them, backslashes may be MySQL's.
        const isMysql = nothing === "\\N" || delimiter === "\t";
        const read = (all: readonly (string | undefined)[][]) => {
          const cells = all.map((row) => row.map((one) => (isMysql && one === "\\N" ? undefined : one)));
          return cells.filter((row) => row.some(Boolean));
        };
        // Rows of separators alone are none.
        expect(read(await found(`${bom}${content}${end}`))).toEqual(read(meant(given)));
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
