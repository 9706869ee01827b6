// Which QR codes nobody could scan: they are refused with why, and with what can be scanned.
import { Refused } from "../../runtime/refused.ts";
import { rgba } from "./colours.ts";

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
 * What scanners need. `contrast`: of luminances, as WCAG counts it. `pixels`: of a module in a PNG; SVG has none. `margin`:
 * modules; the standard asks for four, and readers make do with two.
 */
export const LEAST = { contrast: 3, pixels: 3, margin: 2 } as const;

type Look = Pick<QrLook, "format" | "size" | "margin" | "dark" | "light">;

/** `modules`: of the code in a row. @throws unscannable_qr */
export function refuseUnscannable(modules: number, { format, size, margin, dark, light }: Look): void {
  const refuse = (message: string) => new Refused("unscannable_qr", message);
  if (margin < LEAST.margin)
    throw refuse(`margin must be at least ${LEAST.margin}, as codes without it can't be scanned`);
  if ((rgba(dark)[3] ?? 0) < 255)
    throw refuse("dark must not be transparent, as such a code can't be scanned");
  const contrast = (luminance(light) + 0.05) / (luminance(dark) + 0.05);
  if (contrast < 1) throw refuse("dark must be darker than light: many scanners don't read inverted codes");
  if (contrast < LEAST.contrast)
    throw refuse(
      `dark and light must have a contrast of ${LEAST.contrast} : 1 at least, and have ${Math.floor(contrast * 10) / 10} : 1`,
    );
  const across = modules + 2 * margin;
  if (format === "png" && size < across * LEAST.pixels)
    throw refuse(
      `size must be at least ${across * LEAST.pixels} for this link and margin: ${LEAST.pixels} pixels for each of ${across} squares`,
    );
}

/** Over white where it is transparent, relative from 0 to 1 (WCAG 2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0, alpha = 255] = rgba(colour);
  const linear = [red, green, blue].map((part) => {
    const shown = (part * alpha + 255 * (255 - alpha)) / 255 / 255;
    return shown <= 0.04045 ? shown / 12.92 : ((shown + 0.055) / 1.055) ** 2.4;
  });
  const [r = 0, g = 0, b = 0] = linear;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
