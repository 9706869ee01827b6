// Encodes a square two-colour picture as a PNG of one bit per pixel; zlib compresses it in libuv's thread pool.
import { promisify } from "node:util";
import { constants, crc32, deflate } from "node:zlib";

/** Red, green, blue, alpha, each 0 to 255. */
export type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

export type Picture = {
  /** Width and height in pixels. */
  width: number;
  /** First pixel of each cell, for rows and columns alike, then the end of the last cell; pixels outside are light. */
  edges: readonly number[];
  isDark: (row: number, column: number) => boolean;
  dark: Rgba;
  light: Rgba;
};

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const INDEXED_COLOUR = 3;
/** PNG filter types, the first byte of each row: None (0), and Up (2), the difference from the row above. */
const FILTER_NONE = 0;
const FILTER_UP = 2;
const compress = promisify(deflate);

/** PNG (ISO/IEC 15948) with a palette of two entries: `light` is 0, `dark` is 1. */
export async function twoColourPng(picture: Picture): Promise<Buffer> {
  const { width, light, dark } = picture;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header.set([1, INDEXED_COLOUR, 0, 0, 0], 8);
  const colours = Buffer.from([...light.slice(0, 3), ...dark.slice(0, 3)]);
  const isOpaque = light[3] === 255 && dark[3] === 255;
  const alphas = isOpaque ? [] : [chunk("tRNS", Buffer.from([light[3], dark[3]]))];
  // The rows consist of runs of equal bytes, so run-length matching is fast and compresses as well.
  const pixels = await compress(scanlines(picture), { strategy: constants.Z_RLE });
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", colours),
    ...alphas,
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The first pixel row of each row of cells is drawn; the others repeat it by filter Up and zeros. */
function scanlines({ width, edges, isDark }: Picture): Buffer {
  const stride = 1 + Math.ceil(width / 8);
  const bytes = Buffer.alloc(stride * width, FILTER_NONE);
  const cells = edges.length - 1;
  for (let row = 0; row < cells; row++) {
    const [top = 0, end = 0] = [edges[row], edges[row + 1]];
    for (let column = 0; column < cells; column++) {
      if (isDark(row, column)) setBits(bytes, top * stride + 1, edges[column] ?? 0, edges[column + 1] ?? 0);
    }
    for (let y = top + 1; y < end; y++) bytes[y * stride] = FILTER_UP;
  }
  return bytes;
}

/** Sets the bits [from, to), counted from the most significant bit of the byte at `offset`. */
function setBits(bytes: Buffer, offset: number, from: number, to: number): void {
  let bit = from;
  for (; bit < to && (bit & 7) !== 0; bit++) setBit(bytes, offset, bit);
  const whole = Math.max(0, to - bit) >> 3;
  bytes.fill(0xff, offset + (bit >> 3), offset + (bit >> 3) + whole);
  for (bit += whole * 8; bit < to; bit++) setBit(bytes, offset, bit);
}

function setBit(bytes: Buffer, offset: number, bit: number): void {
  const at = offset + (bit >> 3);
  bytes[at] = (bytes[at] ?? 0) | (0x80 >> (bit & 7));
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
