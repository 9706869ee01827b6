// Makes the logo of an account out of an uploaded PNG, in the reader thread: read within bounds, scaled down, and written anew, so
// that nothing of the file but its pixels is kept; and scales it to where it is drawn.
import { PNG } from "pngjs";

/** RGBA, row by row. */
export type Pixels = { width: number; height: number; data: Uint8Array };

/** `image`: PNG in base64. */
type MadeLogo = { image: string } | { problem: string };

/** In another thread. */
export type MakeLogo = (file: Uint8Array) => Promise<MadeLogo>;

/** Of the file. */
export const LOGO_MAX_BYTES = 65_536;
/** Pixels of a side, of the file; what is kept is smaller. */
const LONGEST_SIDE = 2_048;
/** Sides that are tried, and how many bytes of PNG an event may hold; the smallest fits whatever its pixels are. */
const KEPT_SIDES = [256, 192, 128, 96, 64];
const MOST_KEPT_BYTES = 24_576;
const SIGNATURE = "89504e470d0a1a0a";
/** Where the header has width and height, after the signature, a length and a type. */
const SIZE_AT = 16;
/** Length, type and checksum of a chunk. */
const CHUNK_FRAME = 12;

export function makeLogo(file: Uint8Array): MadeLogo {
  const bytes = Buffer.from(file);
  if (bytes.length > LOGO_MAX_BYTES)
    return { problem: `The logo must be at most ${LOGO_MAX_BYTES / 1024} KB` };
  if (bytes.length < SIZE_AT + 8 || bytes.toString("hex", 0, 8) !== SIGNATURE)
    return { problem: "The logo must be a PNG image: other formats are not taken" };
  const sides = [bytes.readUInt32BE(SIZE_AT), bytes.readUInt32BE(SIZE_AT + 4)];
  if (sides.some((side) => side < 1 || side > LONGEST_SIDE))
    return { problem: `The logo must have at most ${LONGEST_SIDE} by ${LONGEST_SIDE} pixels` };
  const pixels = isWhole(bytes) ? readPng(bytes) : undefined;
  return pixels ? { image: smallEnough(pixels) } : { problem: "The logo is no PNG image that can be read" };
}

export function logoPixels(image: string): Pixels {
  return PNG.sync.read(Buffer.from(image, "base64"));
}

/** The size of the picture as large as it fits into the box, with its proportions. */
export function fitted({ width, height }: Pixels, side: number): { width: number; height: number } {
  const scale = side / Math.max(width, height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Each pixel is the mean of those that it covers, weighted by their opacity. */
export function scaled(
  { data, ...from }: Pixels,
  { width, height }: { width: number; height: number },
): Pixels {
  const pixels = new Uint8Array(width * height * 4);
  const span = (at: number, of: number, side: number) => {
    const first = Math.floor((at * side) / of);
    return [first, Math.max(first + 1, Math.ceil(((at + 1) * side) / of))] as const;
  };
  for (let y = 0; y < height; y++) {
    const [top, bottom] = span(y, height, from.height);
    for (let x = 0; x < width; x++) {
      const [left, right] = span(x, width, from.width);
      let [red, green, blue, alpha] = [0, 0, 0, 0];
      for (let row = top; row < bottom; row++)
        for (let at = (row * from.width + left) * 4; at < (row * from.width + right) * 4; at += 4) {
          const opacity = data[at + 3] ?? 0;
          red += (data[at] ?? 0) * opacity;
          green += (data[at + 1] ?? 0) * opacity;
          blue += (data[at + 2] ?? 0) * opacity;
          alpha += opacity;
        }
      const to = (y * width + x) * 4;
      const weight = alpha || 1;
      pixels[to] = Math.round(red / weight);
      pixels[to + 1] = Math.round(green / weight);
      pixels[to + 2] = Math.round(blue / weight);
      pixels[to + 3] = Math.round(alpha / ((bottom - top) * (right - left)));
    }
  }
  return { width, height, data: pixels };
}

/** Chunk by chunk up to the end: the reader of PNG takes what was cut off, and goes by the last header that there is. */
function isWhole(bytes: Buffer): boolean {
  for (let at = 8; at + CHUNK_FRAME <= bytes.length; ) {
    const type = bytes.toString("latin1", at + 4, at + 8);
    if ((type === "IHDR") !== (at === 8)) return false;
    at += CHUNK_FRAME + bytes.readUInt32BE(at);
    if (type === "IEND") return at === bytes.length;
  }
  return false;
}

function readPng(bytes: Buffer): Pixels | undefined {
  try {
    const { width, height, data } = PNG.sync.read(bytes);
    return { width, height, data };
  } catch {
    return undefined;
  }
}

function smallEnough(pixels: Pixels): string {
  const largest = Math.max(pixels.width, pixels.height);
  const writings = KEPT_SIDES.values().map((side) =>
    writePng(largest > side ? scaled(pixels, fitted(pixels, side)) : pixels),
  );
  const small = writings.find(({ length }) => length <= MOST_KEPT_BYTES);
  return (small as Buffer).toString("base64");
}

function writePng({ width, height, data }: Pixels): Buffer {
  const png = new PNG({ width, height });
  png.data.set(data);
  return PNG.sync.write(png);
}
