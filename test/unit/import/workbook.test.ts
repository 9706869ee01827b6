// Workbooks as Excel and LibreOffice write them are read as the tables that people see in them.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { strToU8, unzipSync, Zip, ZipDeflate, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { isRefused } from "../../../src/commands/refusals.ts";
import type { Source } from "../../../src/transfer/import/reading/lines.ts";
import { readRows } from "../../../src/transfer/import/reading/read-rows.ts";
import { sheetAsCsv } from "../../../src/transfer/import/reading/workbook.ts";
import { effort } from "../../support/runtime/effort.ts";

const sheet = (file: string) => readFileSync(new URL(`../../fixtures/sheets/${file}`, import.meta.url));
const MOST = 1_048_576;

function source(bytes: Buffer): Source {
  return {
    name: "The list",
    size: async () => bytes.length,
    async *read() {
      for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
    },
  };
}

/** As programs write it that don't go back in a file. */
function streamed(files: Record<string, Uint8Array>): Buffer {
  const parts: Uint8Array[] = [];
  const zip = new Zip((_, part) => void parts.push(part));
  for (const [name, content] of Object.entries(files)) {
    const entry = new ZipDeflate(name);
    zip.add(entry);
    entry.push(content, true);
  }
  zip.end();
  return Buffer.concat(parts);
}

/** All numbers of its directory that may be of 64 bits, as in an export by Apache POI. */
function asZip64(zip: Buffer): Buffer {
  const end = zip.length - 22;
  const start = zip.readUInt32LE(end + 16);
  const entries: Buffer[] = [];
  for (let at = start; at < end; ) {
    const name = at + 46 + zip.readUInt16LE(at + 28);
    const head = Buffer.from(zip.subarray(at, name));
    const field = Buffer.alloc(28);
    field.writeUInt32LE(0x00180001);
    for (const [n, from] of [24, 20, 42].entries()) {
      field.writeBigUInt64LE(BigInt(head.readUInt32LE(from)), 4 + 8 * n);
      head.writeUInt32LE(0xffffffff, from);
    }
    const others = zip.subarray(name, name + zip.readUInt16LE(at + 30));
    head.writeUInt16LE(others.length + field.length, 30);
    entries.push(head, others, field);
    at = name + others.length;
  }
  const directory = Buffer.concat(entries);
  const wideEnd = Buffer.alloc(56);
  wideEnd.write("PK\x06\x06", "latin1");
  wideEnd.writeBigUInt64LE(BigInt(zip.readUInt16LE(end + 10)), 32);
  wideEnd.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.write("PK\x06\x07", "latin1");
  locator.writeBigUInt64LE(BigInt(start + directory.length), 8);
  const last = Buffer.from(zip.subarray(end)).fill(0xff, 8, 20);
  return Buffer.concat([zip.subarray(0, start), directory, wideEnd, locator, last]);
}

describe("a workbook", () => {
  it.each([
    ["campaign.xlsx", undefined],
    ["campaign.ods", "windows-1252"],
    ["campaign.ods", "utf-16le"],
  ])("is read by its first sheet, whatever encoding is named: %s, %s", async (file, encoding) => {
    const rows = [];
    for await (const row of readRows(source(sheet(file)), { encoding })) rows.push(row);
    const cells = {
      landing_page: "https://shop.example.com/a?x=1&y=2",
      name: "Shoes “new” & more",
      short: "shoes",
      utm_campaign: "spring",
      expires_at: "2099-03-01T12:30:00",
      max_clicks: "100",
      tags: "ads, mail",
    };
    const records = rows.map((row) => "record" in row && row.record);
    expect(records).toHaveLength(3);
    expect(records[0]).toEqual(cells);
    expect(records[1]).toMatchObject({ name: "Ünïcode 😀", expires_at: "2099-03-02" });
    expect(records[2]).toMatchObject({ name: "two\nlines", short: "0123", max_clicks: "2", tags: "x" });
  });

  it.each<[string, (files: Record<string, Uint8Array>) => Buffer]>([
    ["with sizes behind its files", streamed],
    ["as ZIP64", (files) => asZip64(Buffer.from(zipSync(files)))],
    ["without compression", (files) => Buffer.from(zipSync(files, { level: 0 }))],
  ])("is read as other programs pack it: %s", async (_, pack) => {
    for (const file of ["campaign.xlsx", "campaign.ods"]) {
      const read = await sheetAsCsv("The list", pack(unzipSync(sheet(file))), MOST);
      expect(read).toBe(await sheetAsCsv("The list", sheet(file), MOST));
    }
  });

  it("is read without what is said in comments on its cells", async () => {
    const comment = "<o:annotation><d:date>2026</d:date><t:p>ask <t:s/>Anna</t:p></o:annotation>";
    const row = `<t:table-row><t:table-cell>${comment}<t:p>https://example.com/a</t:p></t:table-cell></t:table-row>`;
    const xml = `<o:body xmlns:o="o" xmlns:t="t" xmlns:d="d"><t:table>${row}</t:table></o:body>`;
    const book = zipSync({ "content.xml": strToU8(xml) });
    expect(await sheetAsCsv("The list", book, MOST)).toBe('"https://example.com/a"\r\n');
  });

  it("is refused where it is larger unpacked than it may be, whatever it says of its size", async () => {
    const bomb = zipSync({ "content.xml": new Uint8Array(20 * MOST) });
    expect(bomb.length).toBeLessThan(MOST / 10);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(20 * MOST);
    const lying = Buffer.from(bomb);
    for (let at = lying.indexOf(size); at >= 0; at = lying.indexOf(size)) lying.writeUInt32LE(64, at);
    for (const bytes of [bomb, lying])
      await expect(sheetAsCsv("The list", bytes, MOST)).rejects.toThrow("more than 1 MB unpacked");
  });

  it("is refused where its cells are larger than it may be, as they share a text or repeat", async () => {
    const sharing = {
      "xl/workbook.xml": strToU8("<workbook/>"),
      "xl/sharedStrings.xml": strToU8(`<sst><si><t>${"a".repeat(1_000)}</t></si></sst>`),
      "xl/worksheets/sheet1.xml": strToU8(
        `<sheet>${`<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`.repeat(20)}</sheet>`,
      ),
    };
    const cell = '<t:table-cell t:number-columns-repeated="900"><t:p>a</t:p></t:table-cell>';
    const row = `<t:table-row>${cell}</t:table-row>`;
    const repeating = { "content.xml": strToU8(`<t:table xmlns:t="t">${row.repeat(1_000)}</t:table>`) };
    for (const files of [sharing, repeating])
      await expect(sheetAsCsv("The list", zipSync(files), MOST)).rejects.toThrow("more than 1 MB unpacked");
  });

  it("is read or refused, whatever bytes of it are others", async () => {
    const files = ["campaign.xlsx", "campaign.ods"].map(sheet);
    const damaged = fc
      .tuple(fc.constantFrom(...files), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }))
      .map(([file, changes]) => {
        const bytes = Buffer.from(file);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes;
      });
    const xml = fc
      .string()
      .map((text) =>
        Buffer.from(zipSync({ "content.xml": strToU8(`<a>${text}</a>`), "xl/workbook.xml": strToU8(text) })),
      );
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, xml), async (bytes) => {
        const read = await sheetAsCsv("The list", bytes, MOST).catch((error: unknown) => error);
        expect(typeof read === "string" || isRefused(read, "wrong_format")).toBe(true);
      }),
      { numRuns: effort(100, 1_000) },
    );
  });
});
