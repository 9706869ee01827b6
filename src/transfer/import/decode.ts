// Decodes a file piece by piece, and marks what is not of its encoding, so that only the records that have it are refused.
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";

/** Stands for bytes that are not of the encoding. No text that was decoded has these two surrogates. */
export const UNDECODED = "\ud800\ud800";

export const DECODING_REFUSAL = "it is not UTF-8: name its encoding by --encoding, such as windows-1252";

/**
 * `encoding`: a label of the Encoding Standard; by default as the byte order mark says, else UTF-8. `onBytes`: how many
 * bytes were read so far. @throws what reading the file throws
 */
export async function* decodedFile(
  file: string,
  encoding: string | undefined,
  onBytes: (count: number) => void,
): AsyncGenerator<string> {
  const source = createReadStream(file);
  let decode: ((bytes: Buffer, isLast: boolean) => string) | undefined;
  let count = 0;
  try {
    for await (const bytes of source as AsyncIterable<Buffer>) {
      decode ??= decoderOf(encoding ?? markedEncoding(bytes));
      yield decode(bytes, false);
      count += bytes.length;
      onBytes(count);
    }
    if (decode) yield decode(Buffer.alloc(0), true);
  } finally {
    source.destroy();
  }
}

function markedEncoding(start: Buffer): string {
  const mark = start.toString("hex", 0, 2);
  if (mark === "fffe") return "utf-16le";
  return mark === "feff" ? "utf-16be" : "utf-8";
}

function decoderOf(encoding: string): (bytes: Buffer, isLast: boolean) => string {
  const decoder = new TextDecoder(encoding);
  if (decoder.encoding !== "utf-8")
    return (bytes, isLast) => decoder.decode(bytes, { stream: !isLast }).replaceAll("\ufffd", UNDECODED);
  let isFirst = true;
  let rest = Buffer.alloc(0);
  return (bytes, isLast) => {
    const all = Buffer.concat([rest, bytes]);
    const end = isLast ? all.length : all.length - cutOff(all);
    rest = all.subarray(end);
    const text = utf8(all.subarray(0, end));
    const withoutMark = isFirst ? text.replace(/^\uFEFF/, "") : text;
    isFirst &&= text === "";
    return withoutMark;
  };
}

/** The bytes at the end that may begin a character of more bytes. */
function cutOff(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** A line at a time where something is wrong, as U+FFFD may also be what was written. */
function utf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    const text = line.toString("utf8");
    parts.push(isUtf8(line) ? text : text.replaceAll("\ufffd", UNDECODED));
    start = end;
  }
  return parts.join("");
}
