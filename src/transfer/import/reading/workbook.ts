// The first sheet of a workbook, of Excel (.xlsx, ECMA-376) or OpenDocument (.ods), as the CSV that every other reader of
// tables takes: both are ZIP files of XML.
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import { SaxesParser, type SaxesTagPlain } from "saxes";
import { isRefused, Refused } from "../../../commands/refusals.ts";
import { filesIn, type PackedFile } from "./zip-directory.ts";

/** Every ZIP file that holds something begins so. */
const ZIP_START = Buffer.from("PK\x03\x04", "latin1");
const inflate = promisify(inflateRaw);
/** Methods by which a file is packed. */
const [STORED, DEFLATED] = [0, 8];
/** Characters that are parsed in one turn of the event loop: some milliseconds. */
const SLICE = 131_072;
/** Of a row, which may say that a million empty ones follow. */
const MOST_CELLS = 1_000;
/** Excel's days count from here, as it takes 1900 for a leap year. */
const EXCEL_EPOCH = Date.UTC(1899, 11, 30);
const EPOCH_1904_DAYS = 1_462;
const DAY_MS = 86_400_000;

export function isWorkbook(start: Uint8Array): boolean {
  return ZIP_START.equals(start.subarray(0, ZIP_START.length));
}

/**
 * `mostBytes`: of its XML, unpacked, and characters of the CSV. @throws wrong_format for another ZIP file, and one that is
 * damaged or larger
 */
export async function sheetAsCsv(name: string, bytes: Uint8Array, mostBytes: number): Promise<string> {
  const refusal = (why: string, cause?: unknown) => new Refused("wrong_format", `${name} ${why}`, { cause });
  const most = Math.ceil(mostBytes / 1_048_576).toLocaleString("en");
  const tooLarge = refusal(`is a workbook of more than ${most} MB unpacked: save the sheet as CSV`);
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let files: ReadonlyMap<string, PackedFile>;
  try {
    files = filesIn(zip);
  } catch (error) {
    throw refusal("is a damaged workbook, or another ZIP file", error);
  }
  let left = mostBytes;
  const read = async (file: string, on: Handlers) => {
    const packed = files.get(file);
    if (!packed) return;
    try {
      const xml = await unpacked(zip, packed, left);
      if (xml === undefined) throw tooLarge;
      left -= xml.length;
      await parseXml(xml.toString(), on);
    } catch (error) {
      throw isRefused(error) ? error : refusal("is a damaged workbook", error);
    }
  };
  const lines: string[] = [];
  let length = 0;
  // Cells may share a text, and repeat, which no limit of the file's own size bounds.
  const addRow = (cells: readonly string[]) => {
    for (const cell of cells) length += cell.length + 3;
    if (length > mostBytes) throw tooLarge;
    lines.push(quotedLine(cells));
  };
  if (files.has("content.xml")) await readOpenDocument((on) => read("content.xml", on), addRow);
  else if (files.has("xl/workbook.xml")) await readExcel(read, addRow);
  else throw refusal("is a ZIP file without a sheet of Excel or OpenDocument");
  return lines.join("");
}

/** Undefined where it has more bytes than `most`, by what comes out of it: what a ZIP file says of that may be untrue. */
async function unpacked(
  zip: Buffer,
  { method, start, size }: PackedFile,
  most: number,
): Promise<Buffer | undefined> {
  const packed = zip.subarray(start, start + size);
  if (method === STORED) return packed.length > most ? undefined : packed;
  if (method !== DEFLATED) throw new Error(`Its files are packed by method ${method}`);
  return await inflate(packed, { maxOutputLength: Math.max(1, most) }).catch((error) => {
    if (error.code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw error;
  });
}

/** All cells in quotes, so that no cell tells a separator. */
function quotedLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
}

type Attributes = Readonly<Record<string, string>>;
/** Names of elements come without their prefix, which each program chooses. */
type Handlers = {
  open?: (name: string, attributes: Attributes) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
};
type ReadXml = (file: string, on: Handlers) => Promise<void>;
type AddRow = (cells: readonly string[]) => void;

/** @throws Error for what is no XML; entities that a document defines are none */
async function parseXml(xml: string, { open, text, close }: Handlers): Promise<void> {
  const parser = new SaxesParser();
  const local = (name: string) => name.slice(name.indexOf(":") + 1);
  parser.on("error", (error) => {
    throw error;
  });
  if (open) parser.on("opentag", (tag: SaxesTagPlain) => open(local(tag.name), tag.attributes));
  if (text) {
    parser.on("text", text);
    parser.on("cdata", text);
  }
  if (close) parser.on("closetag", (tag: SaxesTagPlain) => close(local(tag.name)));
  for (let at = 0; at < xml.length; at += SLICE) {
    parser.write(xml.slice(at, at + SLICE));
    await setImmediate();
  }
  parser.close();
}

async function readExcel(read: ReadXml, addRow: AddRow): Promise<void> {
  const { sheet, days } = await firstSheet(read);
  const shared = await sharedTexts(read);
  const formats = await dateFormats(read);
  let row: string[] = [];
  let cell = { column: 0, type: "n", style: 0 };
  let text: string | undefined;
  await read(sheet, {
    open(name, { r = "", t = "n", s = "0" }) {
      if (name === "row") row = [];
      else if (name === "c") cell = { column: columnOf(r) ?? row.length, type: t, style: Number(s) };
      else if (name === "v" || name === "t") text = "";
    },
    text(part) {
      if (text !== undefined) text += part;
    },
    close(name) {
      if ((name === "v" || name === "t") && text !== undefined) {
        if (cell.column < MOST_CELLS) {
          while (row.length < cell.column) row.push("");
          row[cell.column] = (name === "t" ? (row[cell.column] ?? "") : "") + textOf(text);
        }
        text = undefined;
      } else if (name === "row") addRow(row);
    },
  });

  function textOf(written: string): string {
    if (cell.type === "s") return shared[Number(written)] ?? "";
    if (cell.type === "b") return written === "1" ? "true" : "false";
    if (cell.type === "e") return "";
    if (cell.type !== "n") return written;
    const number = Number(written);
    if (formats[cell.style] && Number.isFinite(number)) return timeOfDays(number + days) ?? written;
    return plainNumber(written);
  }
}

/** As it was typed, which 0.30000000000000004 and 2.0 are not. */
function plainNumber(written: string): string {
  const number = Number(written);
  const isPlain = Number.isFinite(number) && Math.abs(number) < 1e15;
  return isPlain ? String(Number(number.toPrecision(15))) : written;
}

/** `AB12` is column 27. */
function columnOf(reference: string): number | undefined {
  const [letters] = /^[A-Z]{1,3}(?=\d)/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** Of those that are shown. `days`: what its dates lack, by the calendar of the workbook. */
async function firstSheet(read: ReadXml): Promise<{ sheet: string; days: number }> {
  const ids: string[] = [];
  let days = 0;
  await read("xl/workbook.xml", {
    open(name, attributes) {
      const { state = "visible", date1904 = "" } = attributes;
      if (name === "workbookPr" && /^(1|true)$/.test(date1904)) days = EPOCH_1904_DAYS;
      if (name === "sheet" && state === "visible") ids.push(memberOf(attributes, "id") ?? "");
    },
  });
  let sheet = "xl/worksheets/sheet1.xml";
  await read("xl/_rels/workbook.xml.rels", {
    open(name, { Id, Target = "" }) {
      if (name === "Relationship" && Id === ids[0])
        sheet = Target.startsWith("/") ? Target.slice(1) : `xl/${Target}`;
    },
  });
  return { sheet, days };
}

/** By its name without a prefix. */
function memberOf(attributes: Attributes, name: string): string | undefined {
  const [, value] = Object.entries(attributes).find(([full]) => full.endsWith(`:${name}`)) ?? [];
  return value;
}

async function sharedTexts(read: ReadXml): Promise<string[]> {
  const texts: string[] = [];
  let [isText, isReading] = [false, 0];
  await read("xl/sharedStrings.xml", {
    open(name) {
      if (name === "si") texts.push("");
      // How a text is spoken is none of it.
      if (name === "rPh") isReading += 1;
      if (name === "t") isText = isReading === 0;
    },
    text(part) {
      if (isText) texts[texts.length - 1] += part;
    },
    close(name) {
      if (name === "rPh") isReading -= 1;
      if (name === "t") isText = false;
    },
  });
  return texts;
}

/** Of each style of cells, whether numbers of it are dates. */
async function dateFormats(read: ReadXml): Promise<boolean[]> {
  const own = new Map<string, boolean>();
  const styles: boolean[] = [];
  let isOfCells = false;
  await read("xl/styles.xml", {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt")
        own.set(numFmtId, /[dyhs]/i.test(formatCode.replace(/"[^"]*"|\[[^\]]*\]|\\./g, "")));
      if (name === "cellXfs") isOfCells = true;
      const id = Number(numFmtId);
      const isBuiltIn = (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47);
      if (name === "xf" && isOfCells) styles.push(own.get(numFmtId) ?? isBuiltIn);
    },
    close(name) {
      if (name === "cellXfs") isOfCells = false;
    },
  });
  return styles;
}

/** Undefined beyond the calendar. */
function timeOfDays(days: number): string | undefined {
  const at = new Date(EXCEL_EPOCH + Math.round(days * 86_400) * 1_000);
  if (Number.isNaN(at.getTime()) || at.getTime() < EXCEL_EPOCH) return undefined;
  const iso = at.toISOString().slice(0, 19);
  return at.getTime() % DAY_MS === 0 ? iso.slice(0, 10) : iso;
}

async function readOpenDocument(read: (on: Handlers) => Promise<void>, addRow: AddRow): Promise<void> {
  let tables = 0;
  let comments = 0;
  let row: string[] = [];
  let cell: { value: string | undefined; paragraphs: string[]; times: number } | undefined;
  await read({
    open(name, attributes) {
      if (name === "table") tables += 1;
      if (tables > 1) return;
      if (name === "table-row") row = [];
      else if (name === "table-cell" || name === "covered-table-cell") {
        const times = Number(memberOf(attributes, "number-columns-repeated") ?? 1);
        const value = memberOf(attributes, "date-value") ?? memberOf(attributes, "boolean-value");
        const isNumber = memberOf(attributes, "value-type") === "float";
        const number = isNumber ? plainNumber(memberOf(attributes, "value") ?? "") : undefined;
        cell = {
          value: value ?? number,
          paragraphs: [],
          times,
        };
      } else if (name === "annotation") comments += 1;
      else if (name === "p" && comments === 0) cell?.paragraphs.push("");
      else if (name === "s" || name === "tab" || name === "line-break") add(" ");
    },
    text: add,
    close(name) {
      if (tables > 1) return;
      if (name === "annotation") comments -= 1;
      else if ((name === "table-cell" || name === "covered-table-cell") && cell) {
        const text = cell.value ?? cell.paragraphs.join("\n");
        for (let n = 0; n < cell.times && row.length < MOST_CELLS; n++) row.push(text);
        cell = undefined;
      } else if (name === "table-row") {
        while (row.at(-1) === "") row.pop();
        addRow(row);
      }
    },
  });

  function add(text: string): void {
    if (!cell || comments > 0 || cell.paragraphs.length === 0) return;
    cell.paragraphs[cell.paragraphs.length - 1] += text;
  }
}
