// Writes a square picture of two colours as a PNG of one bit a pixel, compressed off the HTTP thread.
import { promisify } from "node:util";
import { constants, crc32, deflate } from "node:zlib";

/** Red, green, blue, alpha, each 0 to 255. */
export type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

export type Picture = {
  /** The cell that each pixel belongs to, the same across and down; as long as the picture is wide. */
  cells: Int16Array;
  isDark: (row: number, column: number) => boolean;
  dark: Rgba;
  light: Rgba;
};

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const INDEXED_COLOUR = 3;
/** Of each row's first byte: its pixels as they are, or their difference from the row above. */
const AS_IT_IS = 0;
const SAME_AS_ABOVE = 2;
const compress = promisify(deflate);

/** PNG (ISO/IEC 15948) with a palette of two entries: `light` is 0, `dark` is 1. */
export async function twoColourPng(picture: Picture): Promise<Buffer> {
  const { light, dark } = picture;
  const width = picture.cells.length;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header.set([1, INDEXED_COLOUR, 0, 0, 0], 8);
  const colours = Buffer.from([...light.slice(0, 3), ...dark.slice(0, 3)]);
  const isOpaque = light[3] === 255 && dark[3] === 255;
  const alphas = isOpaque ? [] : [chunk("tRNS", Buffer.from([light[3], dark[3]]))];
  // Runs of equal bytes are all there is, so that the fastest strategy loses nothing.
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

/** A row of the same cells as the one above is a byte and zeros, so each row of cells is worked out once. */
function scanlines({ cells, isDark }: Picture): Buffer {
  const stride = 1 + Math.ceil(cells.length / 8);
  const bytes = Buffer.alloc(stride * cells.length);
  cells.forEach((row, y) => {
    const start = y * stride;
    if (y > 0 && cells[y - 1] === row) {
      bytes[start] = SAME_AS_ABOVE;
      return;
    }
    bytes[start] = AS_IT_IS;
    for (let x = 0; x < cells.length; x++) {
      if (!isDark(row, cells[x] as number)) continue;
      const at = start + 1 + (x >> 3);
      bytes[at] = (bytes[at] as number) | (0x80 >> (x & 7));
    }
  });
  return bytes;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
