// A QR code as PNG (ISO/IEC 15948), written here, as the library's takes half a second for the largest. Compressed in libuv's
// thread pool.
import { promisify } from "node:util";
import { constants, crc32, deflate } from "node:zlib";
import { rgba } from "../events/links/qr-look.ts";
import { coverageOf } from "./coverage.ts";
import { fitted, logoPixels, type Pixels, scaled } from "./logo.ts";
import type { QrDrawing } from "./outlines.ts";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** A byte a pixel, each an entry of the palette: how much of it is dark. */
const INDEXED = [8, 3, 0, 0, 0];
const TRUE_COLOUR = [8, 6, 0, 0, 0];
/** PNG filter type of a row, its first byte: the difference from the row above. */
const FILTER_UP = 2;
const compress = promisify(deflate);

/** `size`: width in pixels. */
export async function drawPng(
  drawing: QrDrawing,
  size: number,
  light: string,
  dark: string,
): Promise<Buffer> {
  const scale = size / drawing.width;
  const height = Math.round(drawing.height * scale);
  const shades = coverageOf(drawing.dark, scale, size, height);
  if (drawing.words.length > 0) {
    const words = coverageOf(drawing.words, scale, size, height);
    for (let at = 0; at < shades.length; at++)
      if (words[at]) shades[at] = ((shades[at] ?? 0) * (255 - (words[at] ?? 0))) / 255;
  }
  const palette = paletteOf(rgba(light), rgba(dark));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(height, 4);
  const file = (kind: readonly number[], ...chunks: Buffer[]) =>
    Buffer.concat([
      SIGNATURE,
      chunk("IHDR", Buffer.concat([header, Buffer.from(kind)])),
      ...chunks,
      chunk("IEND", Buffer.alloc(0)),
    ]);
  if (drawing.logo) {
    const picture = { palette, scale, logo: drawing.logo, back: rgba(light) };
    return file(TRUE_COLOUR, chunk("IDAT", await compress(withLogo(shades, size, picture))));
  }
  const opaque = Buffer.from(palette.filter((_, at) => at % 4 !== 3));
  const opacities = Buffer.from(palette.filter((_, at) => at % 4 === 3));
  // The rows consist of runs of equal bytes, so run-length matching is fast and compresses as well.
  const rows = await compress(scanlines(shades, size), { strategy: constants.Z_RLE });
  return file(INDEXED, chunk("PLTE", opaque), chunk("tRNS", opacities), chunk("IDAT", rows));
}

/** RGBA from `light` to `dark`, weighted by their opacity. */
function paletteOf(light: Uint8Array, dark: Uint8Array): Uint8Array {
  const palette = new Uint8Array(256 * 4);
  for (let shade = 0; shade < 256; shade++) {
    const parts = [light, dark].map((colour, n) => (colour[3] ?? 0) * (n === 0 ? 255 - shade : shade));
    const [ofLight = 0, ofDark = 0] = parts;
    const sum = ofLight + ofDark;
    for (let part = 0; part < 3; part++)
      palette[shade * 4 + part] =
        sum === 0
          ? (light[part] ?? 0)
          : Math.round(((light[part] ?? 0) * ofLight + (dark[part] ?? 0) * ofDark) / sum);
    palette[shade * 4 + 3] = Math.round(sum / 255);
  }
  return palette;
}

/** Rows that are as the one above are zeros under the filter Up. */
function scanlines(shades: Uint8Array, width: number): Buffer {
  const height = shades.length / width;
  const bytes = Buffer.alloc((width + 1) * height);
  let above: Uint8Array | undefined;
  for (let y = 0; y < height; y++) {
    const row = shades.subarray(y * width, (y + 1) * width);
    if (above && Buffer.compare(row, above) === 0) bytes[y * (width + 1)] = FILTER_UP;
    else bytes.set(row, y * (width + 1) + 1);
    above = row;
  }
  return bytes;
}

/** `scale`: pixels of a module. `back`: RGBA of the background. */
type Picture = {
  palette: Uint8Array;
  scale: number;
  logo: NonNullable<QrDrawing["logo"]>;
  back: Uint8Array;
};

/** Rows of RGBA, with the logo over the background. */
function withLogo(shades: Uint8Array, width: number, { palette, scale, logo, back }: Picture): Buffer {
  const height = shades.length / width;
  const stride = 1 + 4 * width;
  const bytes = Buffer.alloc(stride * height);
  const pixels = logoPixels(logo.image);
  const small = scaled(pixels, fitted(pixels, Math.max(1, Math.floor(logo.side * scale))));
  const middle = (logo.at + logo.side / 2) * scale;
  const [left, top] = [Math.floor(middle - small.width / 2), Math.floor(middle - small.height / 2)];
  let above: Uint8Array | undefined;
  for (let y = 0; y < height; y++) {
    const row = shades.subarray(y * width, (y + 1) * width);
    const line = bytes.subarray(y * stride, (y + 1) * stride);
    const isBeside = y >= top && y <= top + small.height;
    if (!isBeside && above && Buffer.compare(row, above) === 0) line[0] = FILTER_UP;
    else
      for (let x = 0; x < width; x++)
        line.set(palette.subarray((row[x] ?? 0) * 4, (row[x] ?? 0) * 4 + 4), 1 + 4 * x);
    if (y >= top && y < top + small.height) drawLogoRow(line, small, y - top, left, back);
    above = row;
  }
  return bytes;
}

/** Of the logo over the background, both with their opacity (Porter and Duff's source-over). */
function drawLogoRow(
  line: Uint8Array,
  { width, data }: Pixels,
  row: number,
  left: number,
  back: Uint8Array,
): void {
  const backAlpha = (back[3] ?? 0) / 255;
  for (let x = 0; x < width; x++) {
    const from = (row * width + x) * 4;
    const to = 1 + (left + x) * 4;
    const share = (data[from + 3] ?? 0) / 255;
    const rest = backAlpha * (1 - share);
    const opacity = share + rest;
    for (let part = 0; part < 3; part++)
      line[to + part] =
        opacity === 0
          ? 0
          : Math.round(((data[from + part] ?? 0) * share + (back[part] ?? 0) * rest) / opacity);
    line[to + 3] = Math.round(opacity * 255);
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
