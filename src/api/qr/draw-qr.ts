// Draws QR codes, in the reader thread: the library computes the modules, and what they look like is ours.
import pLimit from "p-limit";
import qrcode from "qrcode";
import { type QrLook, refuseUnscannable } from "../../events/links/qr-look.ts";
import { Refused } from "../../runtime/refused.ts";
import { drawPng } from "./draw-png.ts";
import { drawPdf, drawSvg } from "./draw-vectors.ts";
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

const MAX_WAITING = 500;

/** Draws one image at a time, so that what else the thread does goes on between two. @throws qr_busy */
export function oneByOne(draw: DrawQr, maxWaiting = MAX_WAITING): DrawQr {
  const queue = pLimit(1);
  return async (text, look) => {
    if (queue.activeCount + queue.pendingCount >= maxWaiting) throw new Refused("qr_busy");
    return await queue(() => draw(text, look));
  };
}
