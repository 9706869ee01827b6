// Which QR codes nobody could scan: they are refused with why, and with what can be scanned.
import { Refused } from "../../runtime/refused.ts";
import { rgba } from "./colours.ts";
import type { QrLook } from "./draw-qr.ts";

/**
 * What scanners need. `contrast`: of luminances, as WCAG counts it. `pixels`: of a module in a PNG; SVG has none. `margin`:
 * modules; the standard asks for four, and readers make do with two.
 */
export const LEAST = { contrast: 3, pixels: 3, margin: 2 } as const;

type Look = Pick<QrLook, "format" | "size" | "margin" | "dark" | "light">;

/** `modules`: of the code in a row. @throws invalid_request */
export function refuseUnscannable(modules: number, { format, size, margin, dark, light }: Look): void {
  const refuse = (field: keyof Look, message: string) => new Refused("invalid_request", message, { field });
  if (margin < LEAST.margin)
    throw refuse("margin", `margin must be at least ${LEAST.margin}, as codes without it can't be scanned`);
  if ((rgba(dark)[3] ?? 0) < 255)
    throw refuse("dark", "dark must not be transparent, as such a code can't be scanned");
  const contrast = (luminance(light) + 0.05) / (luminance(dark) + 0.05);
  if (contrast < 1)
    throw refuse("dark", "dark must be darker than light: many scanners don't read inverted codes");
  if (contrast < LEAST.contrast)
    throw refuse(
      "dark",
      `dark and light must have a contrast of ${LEAST.contrast} : 1 at least, and have ${contrast.toFixed(1)} : 1`,
    );
  const across = modules + 2 * margin;
  if (format === "png" && size < across * LEAST.pixels)
    throw refuse(
      "size",
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
