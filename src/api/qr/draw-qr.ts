// Draws QR codes, in the reader thread: the library computes the modules; PNG is written here, as the library's takes half a
// second for the largest, and SVG, as the library's has modules under the logo.
import { promisify } from "node:util";
import { constants, crc32, deflate } from "node:zlib";
import qrcode from "qrcode";
import { rgba } from "./colours.ts";
import { fitted, logoPixels, type Pixels, scaled } from "./logo.ts";
import { type QrLook, refuseUnscannable } from "./scannable.ts";

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

/** @throws unscannable_qr where nobody could scan it */
export const drawQr: DrawQr = async (text, look) => {
  const { modules } = qrcode.create(text, { errorCorrectionLevel: look.ecc });
  refuseUnscannable(modules.size, look);
  return look.format === "svg" ? drawSvg(modules, look) : await drawPng(modules, look);
};

function drawSvg(modules: qrcode.BitMatrix, { size, margin, dark, light, logo }: QrLook): string {
  const across = modules.size + 2 * margin;
  const box = logoBox(modules.size, margin);
  const isDark = moduleReader(modules, margin, logo === undefined ? undefined : box);
  const runs: string[] = [];
  for (let row = margin; row < margin + modules.size; row++)
    for (let from = margin; from < margin + modules.size; from++) {
      if (!isDark(row, from)) continue;
      let to = from + 1;
      while (isDark(row, to)) to += 1;
      runs.push(`M${from} ${row}.5h${to - from}`);
      from = to;
    }
  const { at, side } = { at: box.at + 0.5, side: box.side - 1 };
  const image = `<image x="${at}" y="${at}" width="${side}" height="${side}" href="data:image/png;base64,${logo}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${across} ${across}" shape-rendering="crispEdges"><path ${svgColour("fill", light)} d="M0 0h${across}v${across}H0z"/><path ${svgColour("stroke", dark)} d="${runs.join("")}"/>${logo === undefined ? "" : image}</svg>\n`;
}

/** Whether the module is dark, counted with the margin; none is under the logo. */
function moduleReader(
  { size, data }: qrcode.BitMatrix,
  margin: number,
  box: { at: number; side: number } | undefined,
): (row: number, column: number) => boolean {
  const isInBox = (module: number) => box !== undefined && module >= box.at && module < box.at + box.side;
  return (row, column) => {
    const [r, c] = [row - margin, column - margin];
    if (r < 0 || c < 0 || r >= size || c >= size || (isInBox(row) && isInBox(column))) return false;
    return data[r * size + c] === 1;
  };
}

/** In modules, with the margin: a square of whole modules in the middle, around which one half stays free. */
function logoBox(modules: number, margin: number): { at: number; side: number } {
  const side = 2 * Math.floor((modules * LOGO_SHARE) / 2) + 1;
  return { at: margin + (modules - side) / 2, side };
}

function svgColour(attribute: "fill" | "stroke", colour: string): string {
  const [r = 0, g = 0, b = 0, alpha = 255] = rgba(colour);
  return `${attribute}="rgb(${r},${g},${b})" ${attribute}-opacity="${(alpha / 255).toFixed(3)}"`;
}

/** PNG (ISO/IEC 15948), compressed in libuv's thread pool. */
async function drawPng(modules: qrcode.BitMatrix, look: QrLook): Promise<Buffer> {
  const width = look.size;
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

/**
 * Rows of RGBA, with the logo over the background. The first pixel row of each row of modules is drawn, others repeat it;
 * those with the logo are drawn each, as it covers a twentieth of the picture.
 */
function colouredRows(modules: qrcode.BitMatrix, width: number, look: QrLook & { logo: string }): Buffer {
  const { margin, light, dark, logo } = look;
  const across = modules.size + 2 * margin;
  const [back, ink] = [rgba(light), rgba(dark)];
  const box = logoBox(modules.size, margin);
  const isDark = moduleReader(modules, margin, box);
  const edge = (module: number) => Math.ceil((module * width) / across);
  const stride = 1 + 4 * width;
  const bytes = Buffer.alloc(stride * width);
  const picture = logoPixels(logo);
  const room = Math.max(1, Math.floor(((box.side - 1) * width) / across));
  const scaledLogo = scaled(picture, fitted(picture, room));
  const top = Math.floor((width - scaledLogo.height) / 2);
  for (let row = 0; row < across; row++) {
    const first = edge(row);
    const drawn = bytes.subarray(first * stride, first * stride + stride);
    drawn.fill(back, 1);
    for (let column = margin; column < margin + modules.size; column++)
      if (isDark(row, column)) drawn.fill(ink, 1 + 4 * edge(column), 1 + 4 * edge(column + 1));
    const clean = Buffer.from(drawn);
    for (let y = first; y < edge(row + 1); y++) {
      const line = bytes.subarray(y * stride, y * stride + stride);
      if (y > top && y <= top + scaledLogo.height) clean.copy(line);
      else if (y > first) line[0] = FILTER_UP;
      if (y >= top && y < top + scaledLogo.height) drawLogoRow(line, scaledLogo, y - top, back);
    }
  }
  return bytes;
}

/** Of the logo over the background, both with their opacity (Porter and Duff's source-over). */
function drawLogoRow(line: Uint8Array, { width, data }: Pixels, row: number, back: Uint8Array): void {
  const left = Math.floor(((line.length - 1) / 4 - width) / 2);
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

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
