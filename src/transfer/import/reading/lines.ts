// The lines of a file, or of a text that was pasted, and which of them have bytes that are not of its encoding, so that only those are refused.
import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { isWorkbook, sheetAsCsv } from "./workbook.ts";

/** Stands for bytes that are not of the encoding. No text that was decoded has these two surrogates. */
export const UNDECODED = "\ud800\ud800";

export const DECODING_REFUSAL = "it is not UTF-8: name its encoding by --encoding, such as windows-1252";

/** Bytes; a longer line is cut. */
export const LONGEST_LINE = 402_653_184;

/** Bytes of XML that a workbook may have, as its texts are in memory. */
const LARGEST_SHEET = 268_435_456;

const LINE_FEED = 0x0a;

/** What is read, a pipe only once. `name`: what messages call it. `size`: in bytes; 0 where it isn't known. */
export type Source = {
  name: string;
  size(): Promise<number>;
  /** `signal`: ends it, also while nothing comes. */
  read(signal?: AbortSignal): AsyncIterable<Buffer>;
};

export function textSource(name: string, text: string): Source {
  const bytes = Buffer.from(text);
  return {
    name,
    size: async () => bytes.length,
    async *read() {
      yield bytes;
    },
  };
}

/** `mostUnpacked`: bytes of a workbook's XML. What is no UTF-8 is taken as Windows writes it. @throws wrong_format */
export async function textOfFile(name: string, bytes: Uint8Array, mostUnpacked: number): Promise<string> {
  if (isWorkbook(bytes)) return await sheetAsCsv(name, bytes, mostUnpacked);
  const marked = markedEncoding(Buffer.from(bytes));
  const encoding = marked === "utf-8" && !isUtf8(bytes) ? "windows-1252" : marked;
  return new TextDecoder(encoding).decode(bytes);
}

/** A workbook comes as the CSV of its first sheet in UTF-8 (`isOurs`), read as a whole; whatever else, as it is. @throws wrong_format */
async function* tablesOf(
  source: Source,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ chunk: Buffer; isOurs: boolean }> {
  const parts: Buffer[] = [];
  let length = 0;
  let isBook: boolean | undefined;
  for await (const chunk of source.read(signal)) {
    isBook ??= isWorkbook(chunk);
    if (!isBook) yield { chunk, isOurs: false };
    else if (length <= LONGEST_LINE) parts.push(chunk);
    length += chunk.length;
  }
  if (parts.length === 0) return;
  const table = await sheetAsCsv(source.name, Buffer.concat(parts), LARGEST_SHEET);
  yield { chunk: Buffer.from(table), isOurs: true };
}

/**
 * With their ends, by line feeds alone, as JSON has U+2028 in texts. `encoding`: a label of the Encoding Standard; by default
 * as the byte order mark says, else UTF-8. `onBytes`: how many bytes were read so far. `signal`: ends it. @throws what reading the file throws
 */
export async function* linesOf(
  source: Source,
  encoding: string | undefined,
  onBytes: (count: number) => void,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  let decode: ReturnType<typeof decoderOf> | undefined;
  let count = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const line = (last: Buffer) => {
    const bytes = parts.length > 0 ? Buffer.concat([...parts, last]) : last;
    [parts, length] = [[], 0];
    return bytes;
  };
  let isFirst = true;
  const textOf = (bytes: Buffer) => {
    const text = decode?.text(bytes) ?? "";
    if (!isFirst) return text;
    isFirst = false;
    return text.replace(/^\ufeff/, "");
  };
  for await (const { chunk, isOurs } of tablesOf(source, signal)) {
    // What is named is the encoding of the file, which a workbook says itself.
    decode ??= decoderOf((isOurs ? undefined : encoding) ?? markedEncoding(chunk));
    const bytes = decode.split(chunk);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield textOf(line(bytes.subarray(start, end + 1)));
      start = end + 1;
    }
    length += bytes.length - start;
    if (start < bytes.length && length <= LONGEST_LINE) parts.push(bytes.subarray(start));
    count += chunk.length;
    onBytes(count);
  }
  if (parts.length > 0) yield textOf(line(Buffer.alloc(0)));
}

function markedEncoding(start: Buffer): string {
  const mark = start.toString("hex", 0, 2);
  if (mark === "fffe") return "utf-16le";
  return mark === "feff" ? "utf-16be" : "utf-8";
}

/** `split`: bytes whose line feeds are lines' ends. `text`: of a line of them, in which U+FEFF may be of a text. */
function decoderOf(encoding: string): { split(chunk: Buffer): Buffer; text(line: Buffer): string } {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  if (!decoder.encoding.startsWith("utf-16"))
    return { split: (chunk) => chunk, text: (line) => marked(line, decoder) };
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    split: (chunk) => Buffer.from(decoder.decode(chunk, { stream: true })),
    text: (line) => utf8.decode(line).replaceAll("\ufffd", UNDECODED),
  };
}

/** U+FFFD may also be what was written. */
function marked(line: Buffer, decoder: TextDecoder): string {
  const text = decoder.decode(line);
  if (!text.includes("\ufffd") || (decoder.encoding === "utf-8" && isUtf8(line))) return text;
  return text.replaceAll("\ufffd", UNDECODED);
}
