// Draws QR codes: the library computes the modules, two-colour-png.ts encodes the PNG from them.
import qrcode from "qrcode";
import { type Rgba, twoColourPng } from "./two-colour-png.ts";

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

/** Distributes the pixels over the modules as evenly as whole pixels allow. */
export async function drawPng(text: string, look: QrLook): Promise<Buffer> {
  const { size, margin, dark, light, ecc } = look;
  const { modules } = qrcode.create(text, { errorCorrectionLevel: ecc });
  const across = modules.size + 2 * margin;
  const width = size < across ? across * PIXELS_A_MODULE : size;
  const edges = Array.from({ length: modules.size + 1 }, (_, module) =>
    Math.ceil(((module + margin) * width) / across),
  );
  return twoColourPng({
    width,
    edges,
    isDark: (row, column) => modules.data[row * modules.size + column] === 1,
    dark: rgbaOf(dark),
    light: rgbaOf(light),
  });
}

export function drawSvg(text: string, { size, margin, ecc, dark, light }: QrLook): Promise<string> {
  const color = { dark, light };
  return qrcode.toString(text, { type: "svg", width: size, margin, errorCorrectionLevel: ecc, color });
}

function rgbaOf(colour: string): Rgba {
  const digits = colour.slice(1);
  const long = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = Buffer.from(long, "hex");
  return [red, green, blue, alpha];
}
