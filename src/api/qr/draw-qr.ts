// Draws QR codes, in the reader thread: the library computes the modules and writes SVG; PNG is written here, as the library's
// takes half a second for the largest.
import { promisify } from "node:util";
import { constants, crc32, deflate } from "node:zlib";
import qrcode from "qrcode";

export type QrLook = {
  format: "png" | "svg";
  /** Pixels. */
  size: number;
  /** Modules. */
  margin: number;
  /** `#` and 3, 4, 6 or 8 hex digits. */
  dark: string;
  light: string;
  ecc: "L" | "M" | "Q" | "H";
};

/**
 * When `size` has less than one pixel per module the image could not be scanned, so it is drawn larger than requested.
 */
const PIXELS_A_MODULE = 4;
const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** One bit a pixel, each an entry of the palette, in which `light` is 0 and `dark` is 1. */
const INDEXED = [1, 3, 0, 0, 0];
/** PNG filter type of a row, its first byte: the difference from the row above. */
const FILTER_UP = 2;
const compress = promisify(deflate);

export type DrawQr = (text: string, look: QrLook) => Promise<string | Uint8Array>;

export const drawQr: DrawQr = (text, look) =>
  look.format === "svg" ? drawSvg(text, look) : drawPng(text, look);

function drawSvg(text: string, { size, margin, ecc, dark, light }: QrLook): Promise<string> {
  const color = { dark, light };
  return qrcode.toString(text, { type: "svg", width: size, margin, errorCorrectionLevel: ecc, color });
}

/** PNG (ISO/IEC 15948), compressed in libuv's thread pool. */
export async function drawPng(text: string, look: QrLook): Promise<Buffer> {
  const { modules } = qrcode.create(text, { errorCorrectionLevel: look.ecc });
  const across = modules.size + 2 * look.margin;
  const width = look.size < across ? across * PIXELS_A_MODULE : look.size;
  const header = Buffer.alloc(8);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  const [light, dark] = [rgba(look.light), rgba(look.dark)];
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", Buffer.concat([header, Buffer.from(INDEXED)])),
    chunk("PLTE", Buffer.concat([light.subarray(0, 3), dark.subarray(0, 3)])),
    chunk("tRNS", Buffer.concat([light.subarray(3), dark.subarray(3)])),
    // The rows consist of runs of equal bytes, so run-length matching is fast and compresses as well.
    chunk("IDAT", await compress(scanlines(modules, look.margin, width), { strategy: constants.Z_RLE })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The first pixel row of each row of modules is drawn; the others repeat it by filter Up and zeros. */
function scanlines({ size, data }: qrcode.BitMatrix, margin: number, width: number): Buffer {
  const edge = (module: number) => Math.ceil(((module + margin) * width) / (size + 2 * margin));
  const stride = 1 + Math.ceil(width / 8);
  const bytes = Buffer.alloc(stride * width);
  for (let row = 0; row < size; row++) {
    const top = edge(row) * stride;
    for (let column = 0; column < size; column++) {
      if (data[row * size + column] !== 1) continue;
      setBits(bytes, top + 1, edge(column), edge(column + 1));
    }
    for (let y = edge(row) + 1; y < edge(row + 1); y++) bytes[y * stride] = FILTER_UP;
  }
  return bytes;
}

/** Sets the bits [from, to), counted from the most significant bit of the byte at `offset`. */
function setBits(bytes: Buffer, offset: number, from: number, to: number): void {
  for (let bit = from; bit < to; bit++) {
    const at = offset + (bit >> 3);
    bytes[at] = (bytes[at] ?? 0) | (0x80 >> (bit & 7));
  }
}

function rgba(colour: string): Buffer {
  const digits = colour.slice(1);
  const long = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  return Buffer.from(long.padEnd(8, "f"), "hex");
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
