// What a QR code is drawn of, in modules, whatever the format: closed outlines for its dark modules and its frame, and strokes
// for the words on the frame.
import type qrcode from "qrcode";
import type { QrLook } from "../events/links/qr-look.ts";
import { letterStrokes } from "./frame-letters.ts";

/** Points [x, y], each reached by a line, or by a cubic curve where two control points come before it; the last meets the first. */
export type Outline = readonly (readonly number[])[];

/** `width`, `height`: of the picture. `words`: painted in the light colour, over the dark frame. */
export type QrDrawing = {
  width: number;
  height: number;
  dark: readonly Outline[];
  words: readonly Outline[];
  logo: { image: string; at: number; side: number } | undefined;
};

/** Of the modules' width: some 6 % of them are covered, and correction H mends 30 %. */
const LOGO_SHARE = 0.24;
/** In modules: of the frame's line, of its foot with the words, of its corners, and of capitals at most. */
const FRAME = { line: 1, foot: 5, corner: 2.5, capitals: 2.4 } as const;
/** Of a letter's height. */
const STROKE = 0.19;
/** Control points of a cubic curve that is a quarter of a circle, as a share of its radius. */
const QUARTER = 0.5523;

/** Modules in a row of the picture of a code with `modules`. */
export function modulesAcross(modules: number, { margin, frame }: Pick<QrLook, "margin" | "frame">): number {
  return modules + 2 * margin + (frame === "" ? 0 : 2 * FRAME.line);
}

export function drawingOf(modules: qrcode.BitMatrix, look: QrLook): QrDrawing {
  const { margin, frame, shape, logo } = look;
  const width = modulesAcross(modules.size, look);
  const side = 2 * Math.floor((modules.size * LOGO_SHARE) / 2) + 1;
  const first = (frame === "" ? 0 : FRAME.line) + margin;
  const free = { at: first + (modules.size - side) / 2, side };
  const isDark = moduleReader(modules, first, logo === undefined ? undefined : free);
  const height = frame === "" ? width : width + FRAME.foot - FRAME.line;
  const around = frame === "" ? [] : frameOutlines(width, height);
  return {
    width,
    height,
    dark: [...around, ...runs(modules.size, first, isDark, shape)],
    words: wordsOutlines(frame, width),
    // Half a module around it stays free.
    logo: logo === undefined ? undefined : { image: logo, at: free.at + 0.5, side: side - 1 },
  };
}

type IsDark = (row: number, column: number) => boolean;

/** Whether the module is dark, counted from the edge of the picture; none is under the logo. */
function moduleReader(
  { size, data }: qrcode.BitMatrix,
  first: number,
  free: { at: number; side: number } | undefined,
): IsDark {
  const isFree = (at: number) => free !== undefined && at >= free.at && at < free.at + free.side;
  return (row, column) => {
    const [r, c] = [row - first, column - first];
    if (r < 0 || c < 0 || r >= size || c >= size || (isFree(row) && isFree(column))) return false;
    return data[r * size + c] === 1;
  };
}

/** Modules beside each other are one outline; rounded ones have round ends where nothing dark is above or below. */
function runs(size: number, first: number, isDark: IsDark, shape: QrLook["shape"]): Outline[] {
  const outlines: Outline[] = [];
  for (let row = first; row < first + size; row++)
    for (let from = first; from < first + size; from++) {
      if (!isDark(row, from)) continue;
      let to = from + 1;
      while (isDark(row, to)) to += 1;
      const round = (beside: number, column: number) =>
        shape === "rounded" && !isDark(row + beside, column) ? 0.5 : 0;
      const corners = [round(-1, from), round(-1, to - 1), round(1, to - 1), round(1, from)] as const;
      outlines.push(box(from, row, to - from, 1, corners));
      from = to;
    }
  return outlines;
}

/**
 * Around the code, with a foot for the words. The hole runs the other way round, which keeps it empty: a square is the same with
 * x and y exchanged.
 */
function frameOutlines(width: number, height: number): Outline[] {
  const { line, corner } = FRAME;
  const inner = corner - line;
  const hole = box(line, line, width - 2 * line, width - 2 * line, [inner, inner, inner, inner]);
  const exchanged = hole.map((step) => step.map((_, n) => step[n % 2 === 0 ? n + 1 : n - 1] ?? 0));
  return [box(0, 0, width, height, [corner, corner, corner, corner]), exchanged];
}

function wordsOutlines(words: string, width: number): Outline[] {
  const { strokes, length } = letterStrokes(words);
  const height = Math.min(FRAME.capitals, (width - 2 * FRAME.corner) / length);
  const left = (width - length * height) / 2;
  const top = width - FRAME.line + (FRAME.foot - height) / 2;
  return strokes.map(([x1, y1, x2, y2]) =>
    capsule(
      left + x1 * height,
      top + y1 * height,
      left + x2 * height,
      top + y2 * height,
      (STROKE * height) / 2,
    ),
  );
}

/** Clockwise from the left end of its top; `corners`: radii, from the left one at the top. */
function box(
  x: number,
  y: number,
  w: number,
  h: number,
  [tl, tr, br, bl]: readonly [number, number, number, number],
): Outline {
  const [right, bottom] = [x + w, y + h];
  return [
    ...(tl ? quarter(x + tl, y + tl, -tl, 0, 0, -tl) : [[x, y]]),
    ...(tr ? [[right - tr, y], ...quarter(right - tr, y + tr, 0, -tr, tr, 0).slice(1)] : [[right, y]]),
    ...(br
      ? [[right, bottom - br], ...quarter(right - br, bottom - br, br, 0, 0, br).slice(1)]
      : [[right, bottom]]),
    ...(bl ? [[x + bl, bottom], ...quarter(x + bl, bottom - bl, 0, bl, -bl, 0).slice(1)] : [[x, bottom]]),
  ];
}

/** A line with round ends. */
function capsule(x1: number, y1: number, x2: number, y2: number, r: number): Outline {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = length === 0 ? [r, 0] : [((x2 - x1) * r) / length, ((y2 - y1) * r) / length];
  return [
    ...quarter(x2, y2, dy, -dx, dx, dy),
    ...quarter(x2, y2, dx, dy, -dy, dx).slice(1),
    ...quarter(x1, y1, -dy, dx, -dx, -dy),
    ...quarter(x1, y1, -dx, -dy, dy, -dx).slice(1),
  ];
}

/** Of a circle around [x, y], from there by [ux, uy] to there by [vx, vy]: its start, and the curve. */
function quarter(x: number, y: number, ux: number, uy: number, vx: number, vy: number): number[][] {
  const q = QUARTER;
  return [
    [x + ux, y + uy],
    [x + ux + q * vx, y + uy + q * vy, x + vx + q * ux, y + vy + q * uy, x + vx, y + vy],
  ];
}
