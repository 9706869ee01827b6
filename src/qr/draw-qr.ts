// Draws QR codes, in the reader thread: the library computes the modules, and what they look like is ours.
import pLimit from "p-limit";
import qrcode from "qrcode";
import { Refused } from "../commands/refusals.ts";
import { LEAST, type QrLook, rgba } from "../events/links/qr-look.ts";
import { drawPng } from "./draw-png.ts";
import { drawPdf, drawSvg, overWhite } from "./draw-vectors.ts";
import { undrawable } from "./frame-letters.ts";
import { drawingOf, modulesAcross } from "./outlines.ts";

export type DrawQr = (text: string, look: QrLook) => Promise<string | Uint8Array>;

/** @throws unscannable_qr where nobody could scan it */
export const drawQr: DrawQr = async (text, look) => {
  const { modules } = qrcode.create(text, { errorCorrectionLevel: look.ecc });
  const { format, size, light, dark } = look;
  refuseUndrawable(look.frame);
  refuseUnscannable(modulesAcross(modules.size, look), look);
  const drawing = drawingOf(modules, look);
  if (format === "svg")
    return drawSvg(drawing, size, light, dark, look.shape === "square" && look.frame === "");
  if (format === "pdf") return drawPdf(drawing, size, light, dark);
  return await drawPng(drawing, size, light, dark);
};

function refuseUndrawable(words: string): void {
  const sign = undrawable(words);
  if (sign !== undefined)
    throw new Refused(
      "unscannable_qr",
      `frame has “${sign}”, which can't be drawn: letters of Latin script, digits and common signs can`,
      { field: "frame" },
    );
}

type Look = Pick<QrLook, "format" | "size" | "margin" | "dark" | "light" | "frame">;

/** `across`: modules in a row of the picture. @throws unscannable_qr */
function refuseUnscannable(across: number, { format, size, margin, dark, light, frame }: Look): void {
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

/** Relative from 0 to 1 (WCAG 2). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = Array.from(overWhite(colour), (part) => {
    const shown = part / 255;
    return shown <= 0.04045 ? shown / 12.92 : ((shown + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const MAX_WAITING = 500;

/** Draws one image at a time, so that what else the thread does goes on between two. @throws qr_busy */
export function oneByOne(draw: DrawQr, maxWaiting = MAX_WAITING): DrawQr {
  const queue = pLimit(1);
  return async (text, look) => {
    if (queue.activeCount + queue.pendingCount >= maxWaiting) throw new Refused("qr_busy");
    return await queue(() => draw(text, look));
  };
}
