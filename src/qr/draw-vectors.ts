// A QR code for print, at any size: as SVG, and as PDF (ISO 32000-1) of one page, with the same outlines as paths.
import { deflateSync } from "node:zlib";
import { rgba } from "../events/links/qr-look.ts";
import { fitted, logoPixels } from "./logo.ts";
import type { Outline, QrDrawing } from "./outlines.ts";

/** `size`: width in pixels of CSS. `isCrisp`: edges on whole pixels of the screen. */
export function drawSvg(
  drawing: QrDrawing,
  size: number,
  light: string,
  dark: string,
  isCrisp: boolean,
): string {
  const { width, height, logo, words } = drawing;
  const path = (colour: Uint8Array, data: string) => `<path ${svgFill(colour)} d="${data}"/>`;
  const paths = [
    path(rgba(light), `M0 0h${width}v${height}H0z`),
    path(rgba(dark), drawing.dark.map(svgPath).join("")),
    words.length > 0 && path(overWhite(light), words.map(svgPath).join("")),
    logo &&
      `<image x="${logo.at}" y="${logo.at}" width="${logo.side}" height="${logo.side}" href="data:image/png;base64,${logo.image}"/>`,
  ];
  const crisp = isCrisp ? ' shape-rendering="crispEdges"' : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${short((size * height) / width)}" viewBox="0 0 ${width} ${height}"${crisp}>${paths.filter(Boolean).join("")}</svg>\n`;
}

function svgPath(outline: Outline): string {
  const steps = outline.map((step, n) => {
    const letter = n === 0 ? "M" : step.length === 2 ? "L" : "C";
    return letter + step.map(short).join(" ");
  });
  return `${steps.join("")}z`;
}

function svgFill([r = 0, g = 0, b = 0, alpha = 255]: Uint8Array): string {
  return `fill="rgb(${r},${g},${b})" fill-opacity="${(alpha / 255).toFixed(3)}"`;
}

function short(number: number): string {
  return String(Math.round(number * 1_000) / 1_000);
}

/** As it looks on paper. */
export function overWhite(colour: string): Uint8Array {
  const [r = 0, g = 0, b = 0, alpha = 255] = rgba(colour);
  return Uint8Array.from([r, g, b], (part) => Math.round((part * alpha + 255 * (255 - alpha)) / 255));
}

/** Units of a page for each pixel of CSS. */
const POINTS = 72 / 96;

/** `size`: width in pixels of CSS, so that it is as large as the SVG. A clear background stays unpainted. */
export function drawPdf(drawing: QrDrawing, size: number, light: string, dark: string): Buffer {
  const { width, height, logo, words } = drawing;
  const scale = (size * POINTS) / width;
  const page = [0, 0, short(width * scale), short(height * scale)].join(" ");
  const fill = (colour: Uint8Array, outlines: readonly Outline[]) =>
    `${[...colour.subarray(0, 3)].map((part) => short(part / 255)).join(" ")} rg ${outlines.map(pdfPath).join("")}f\n`;
  const isClear = (rgba(light)[3] ?? 0) === 0;
  const ground = [[[0, 0], [width, 0], [width, height], [0, height]]]; // biome-ignore format: as a square
  const parts = [
    `${short(scale)} 0 0 ${short(-scale)} 0 ${short(height * scale)} cm\n`,
    isClear ? "" : fill(overWhite(light), ground),
    fill(rgba(dark), drawing.dark),
    words.length > 0 ? fill(overWhite(light), words) : "",
  ];
  const streams: Buffer[] = [];
  if (logo) {
    const pixels = logoPixels(logo.image);
    const { width: w, height: h } = fitted(pixels, 1_000);
    const [across, down] = [(logo.side * w) / 1_000, (logo.side * h) / 1_000];
    const [x, y] = [logo.at + (logo.side - across) / 2, logo.at + (logo.side + down) / 2];
    parts.push(`${[across, 0, 0, -down, x, y].map(short).join(" ")} cm /Logo Do\n`);
    const image = (space: string, more: string, bytes: Uint8Array) =>
      stream(
        bytes,
        `/Type /XObject /Subtype /Image /Width ${pixels.width} /Height ${pixels.height} /ColorSpace /${space} /BitsPerComponent 8 ${more}`,
      );
    streams.push(
      image(
        "DeviceRGB",
        "/SMask 6 0 R",
        pixels.data.filter((_, at) => at % 4 !== 3),
      ),
      image(
        "DeviceGray",
        "",
        pixels.data.filter((_, at) => at % 4 === 3),
      ),
    );
  }
  const resources = logo ? "/XObject << /Logo 5 0 R >>" : "";
  return pdfOf([
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Kids [3 0 R] /Count 1 >>"),
    Buffer.from(
      `<< /Type /Page /Parent 2 0 R /MediaBox [${page}] /Resources << ${resources} >> /Contents 4 0 R >>`,
    ),
    stream(Buffer.from(parts.join("")), ""),
    ...streams,
  ]);
}

function pdfPath(outline: Outline): string {
  const steps = outline.map((step, n) => {
    const operator = n === 0 ? "m" : step.length === 2 ? "l" : "c";
    return `${step.map(short).join(" ")} ${operator} `;
  });
  return `${steps.join("")}h\n`;
}

function stream(bytes: Uint8Array, entries: string): Buffer {
  const packed = deflateSync(bytes);
  const head = `<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head), packed, Buffer.from("\nendstream")]);
}

/** A file of these objects, numbered from 1; the first is its catalogue. */
function pdfOf(objects: readonly Buffer[]): Buffer {
  const parts = [Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  let length = parts[0]?.length ?? 0;
  const places = objects.map((object, n) => {
    const place = length;
    const part = Buffer.concat([Buffer.from(`${n + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    parts.push(part);
    length += part.length;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const entries = objects.length + 1;
  const end = `xref\n0 ${entries}\n0000000000 65535 f \n${places.join("")}trailer\n<< /Size ${entries} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}
