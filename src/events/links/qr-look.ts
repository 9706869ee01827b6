// How a QR code can look, in the request of its image and kept for an account, and what scanners
// need. Pure.
import { z } from "zod";

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
  /** PNG in base64 (qr/logo.ts). */
  logo?: string | undefined;
};

/** `logo`: the account's, if it has one. It covers so much of the code that only the highest correction is read. */
export function lookOf(
  { logo: hasLogo, ...style }: QrStyle,
  logo: string | null | undefined,
  image: Pick<QrLook, "format" | "size">,
): QrLook {
  return { ...style, ...image, ...(hasLogo && logo && { ecc: "H", logo }) };
}

/** What the code of a link says, by which its scans are told from clicks. */
export function scannedUrl(shortUrl: string): string {
  return `${shortUrl}?qr=1`;
}

/** Of `#` and 3, 4, 6 or 8 hex digits: red, green, blue and opacity. */
export function rgba(colour: string): Uint8Array {
  const digits = colour.slice(1);
  const long = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  return Buffer.from(long.padEnd(8, "f"), "hex");
}
