// How a QR code can look, in the request of its image and kept for an account, and which looks nobody could scan: these are
// refused with why. Pure.
import { z } from "zod";
import { Refused } from "../../runtime/refused.ts";

/** Characters of the words on a frame. */
const MOST_WORDS = 24;
const COLOUR = /^#?(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/;
const colour = z
  .string()
  .regex(COLOUR, "must be a hex colour such as 1a2b3c")
  .transform((text) => `#${text.replace("#", "")}`);

/**
 * What scanners need. `contrast`: of luminances, as WCAG counts it. `pixels`: of a module in a PNG; SVG and PDF have none.
 * `margin`: modules; the standard asks for four, and readers make do with two where nothing dark is beyond.
 */
export const LEAST = { contrast: 3, pixels: 3, margin: 2, framedMargin: 4 } as const;

export const QR_SHAPES = ["square", "rounded"] as const;
export const QR_CORRECTIONS = ["L", "M", "Q", "H"] as const;

/** As texts of a query or a form. */
export const qrStyle = {
  dark: colour.meta({ default: "#000000", examples: ["1a2b3c"] }),
  light: colour.meta({ default: "#ffffff", examples: ["ffffff00"] }),
  margin: z.coerce.number().int().min(LEAST.margin).max(20).meta({ default: 4, description: "In modules" }),
  shape: z.enum(QR_SHAPES).meta({ default: "square", description: "Of its modules" }),
  frame: z
    .string()
    .trim()
    .max(MOST_WORDS)
    .meta({
      default: "",
      description: "Words below the code, on a frame around it; none without words. Drawn as capitals.",
      examples: ["Scan me"],
    }),
  ecc: z.enum(QR_CORRECTIONS).meta({ default: "M", description: "Error correction level" }),
};

const Style = z.object(qrStyle);
/** `logo`: whether the account's is in the middle. */
export type QrStyle = z.infer<typeof Style> & { logo: boolean };

export const PLAIN_STYLE: QrStyle = {
  ...{ dark: "#000000", light: "#ffffff", margin: 4, shape: "square", frame: "", ecc: "M", logo: false },
};

/** Of an account that has kept none. */
export const ACCOUNT_STYLE: QrStyle = { ...PLAIN_STYLE, logo: true };

export type QrLook = Omit<QrStyle, "logo"> & {
  format: "png" | "svg" | "pdf";
  /** Width in pixels. */
  size: number;
  /** PNG in base64 (api/qr/logo.ts). */
  logo?: string | undefined;
};

type Look = Pick<QrLook, "format" | "size" | "margin" | "dark" | "light" | "frame">;

/** `across`: modules in a row of the picture. @throws unscannable_qr */
export function refuseUnscannable(across: number, { format, size, margin, dark, light, frame }: Look): void {
  const refuse = (message: string, field: string) => new Refused("unscannable_qr", message, { field });
  if (margin < LEAST.margin)
    throw refuse(`margin must be at least ${LEAST.margin}, as codes without it can't be scanned`, "margin");
  if (frame !== "" && margin < LEAST.framedMargin)
    throw refuse(`margin must be at least ${LEAST.framedMargin} within a frame`, "margin");
  if ((rgba(dark)[3] ?? 0) < 255)
    throw refuse("dark must not be transparent, as such a code can't be scanned", "dark");
  const contrast = (luminance(light) + 0.05) / (luminance(dark) + 0.05);
  if (contrast < 1)
    throw refuse("dark must be darker than light: many scanners don't read inverted codes", "dark");
  if (contrast < LEAST.contrast)
    throw refuse(
      `dark and light must have a contrast of ${LEAST.contrast} : 1 at least, and have ${Math.floor(contrast * 10) / 10} : 1`,
      "dark",
    );
  if (format === "png" && size < across * LEAST.pixels)
    throw refuse(
      `size must be at least ${across * LEAST.pixels} for this link and margin: ${LEAST.pixels} pixels for each of ${across} squares`,
      "size",
    );
}

/** Of `#` and 3, 4, 6 or 8 hex digits: red, green, blue and opacity. */
export function rgba(colour: string): Uint8Array {
  const digits = colour.slice(1);
  const long = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  return Buffer.from(long.padEnd(8, "f"), "hex");
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
