// Draws QR codes, in the reader thread: the library computes the modules and writes SVG; PNG is written here, as the library's
// takes half a second for the largest.
import { promisify } from "node:util";
import { constants, crc32, deflate } from "node:zlib";
import qrcode from "qrcode";
import { fitted, logoPixels, scaled } from "./logo.ts";

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
  /** In the middle: PNG in base64 (logo.ts). */
  logo?: string | undefined;
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
const TRUE_COLOUR = [8, 6, 0, 0, 0];
/** Of the modules' width: some 6 % of them are covered, and correction H mends 30 %. */
const LOGO_SHARE = 0.24;
const compress = promisify(deflate);

export type DrawQr = (text: string, look: QrLook) => Promise<string | Uint8Array>;

export const drawQr: DrawQr = (text, look) =>
  look.format === "svg" ? drawSvg(text, look) : drawPng(text, look);

async function drawSvg(text: string, { size, margin, ecc, dark, light, logo }: QrLook): Promise<string> {
  const color = { dark, light };
  const options = { type: "svg", width: size, margin, errorCorrectionLevel: ecc, color } as const;
  const svg = await qrcode.toString(text, options);
  if (logo === undefined) return svg;
  const { modules } = qrcode.create(text, { errorCorrectionLevel: ecc });
  const { at, side } = logoBox(modules.size, margin);
  const box = `x="${at}" y="${at}" width="${side}" height="${side}"`;
  const image = `x="${at + 0.5}" y="${at + 0.5}" width="${side - 1}" height="${side - 1}"`;
  const { r, g, b, opacity } = svgColour(light);
  const drawn = `<rect ${box} fill="rgb(${r},${g},${b})" fill-opacity="${opacity}"/><image ${image} href="data:image/png;base64,${logo}"/>`;
  return svg.replace("</svg>", `${drawn}</svg>`);
}

/** In modules, with the margin: a square of whole modules in the middle, around which one half stays free. */
function logoBox(modules: number, margin: number): { at: number; side: number } {
  const side = 2 * Math.floor((modules * LOGO_SHARE) / 2) + 1;
  return { at: margin + (modules - side) / 2, side };
}

function svgColour(colour: string) {
  const [r = 0, g = 0, b = 0, alpha = 255] = rgba(colour);
  return { r, g, b, opacity: (alpha / 255).toFixed(3) };
}

/** PNG (ISO/IEC 15948), compressed in libuv's thread pool. */
export async function drawPng(text: string, look: QrLook): Promise<Buffer> {
  const { modules } = qrcode.create(text, { errorCorrectionLevel: look.ecc });
  const across = modules.size + 2 * look.margin;
  const width = look.size < across ? across * PIXELS_A_MODULE : look.size;
  const header = Buffer.alloc(8);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  if (look.logo !== undefined)
    return Buffer.concat([
      SIGNATURE,
      chunk("IHDR", Buffer.concat([header, Buffer.from(TRUE_COLOUR)])),
      chunk("IDAT", await compress(colouredRows(modules, width, { ...look, logo: look.logo }))),
      chunk("IEND", Buffer.alloc(0)),
    ]);
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

/** Unfiltered rows of RGBA, with the logo over the background. */
function colouredRows(
  { size, data }: qrcode.BitMatrix,
  width: number,
  { margin, light, dark, logo }: QrLook & { logo: string },
): Buffer {
  const across = size + 2 * margin;
  const [back, ink] = [rgba(light), rgba(dark)];
  const box = logoBox(size, margin);
  const moduleAt = (pixel: number) => Math.floor((pixel * across) / width) - margin;
  const isInBox = (module: number) => module + margin >= box.at && module + margin < box.at + box.side;
  const stride = 1 + 4 * width;
  const bytes = Buffer.alloc(stride * width);
  for (let y = 0; y < width; y++) {
    const row = moduleAt(y);
    for (let x = 0; x < width; x++) {
      const column = moduleAt(x);
      const isWithin = Math.min(row, column) >= 0 && Math.max(row, column) < size;
      const isDark = isWithin && data[row * size + column] === 1 && !(isInBox(row) && isInBox(column));
      bytes.set(isDark ? ink : back, y * stride + 1 + 4 * x);
    }
  }
  const picture = logoPixels(logo);
  const room = Math.max(1, Math.floor(((box.side - 1) * width) / across));
  const { width: wide, height: high, data: pixels } = scaled(picture, fitted(picture, room));
  const [left, top] = [Math.floor((width - wide) / 2), Math.floor((width - high) / 2)];
  for (let y = 0; y < high; y++)
    for (let x = 0; x < wide; x++) {
      const over = pixels.subarray((y * wide + x) * 4, (y * wide + x) * 4 + 4);
      bytes.set(composed(over, back), (top + y) * stride + 1 + 4 * (left + x));
    }
  return bytes;
}

/** `over` another colour, both with their opacity (Porter and Duff's source-over). */
function composed([red = 0, green = 0, blue = 0, alpha = 0]: Uint8Array, back: Uint8Array): number[] {
  const [share, rest] = [alpha / 255, ((back[3] ?? 0) / 255) * (1 - alpha / 255)];
  const opacity = share + rest;
  const mixed = [red, green, blue].map((part, n) =>
    opacity === 0 ? 0 : Math.round((part * share + (back[n] ?? 0) * rest) / opacity),
  );
  return [...mixed, Math.round(opacity * 255)];
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
