// Workbooks as Excel and LibreOffice write them are read as the tables that people see in them.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { isRefused } from "../../../src/runtime/refused.ts";
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

describe("a workbook", () => {
  it.each(["campaign.xlsx", "campaign.ods"])("is read by its first sheet: %s", async (file) => {
    const rows = [];
    for await (const row of readRows(source(sheet(file)))) rows.push(row);
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

  it("is refused where it is larger unpacked than it may be, before it is unpacked", async () => {
    const bomb = zipSync({ "content.xml": new Uint8Array(20 * MOST) });
    expect(bomb.length).toBeLessThan(MOST / 10);
    await expect(sheetAsCsv("The list", bomb, MOST)).rejects.toThrow("20 MB unpacked, and may have 1");
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
