// How much of each pixel outlines cover: signed areas are summed where edges pass, and added up along each row, so that
// outlines that touch leave no seam, and no pixel is looked at twice.
import type { Outline } from "./outlines.ts";

/** Lines for each cubic curve: a corner of a module differs from a circle by less than 0.3 % of it. */
const LINES = 8;

/** A byte a pixel, row by row, 255 where it is covered. `scale`: pixels of a unit; whole units are at whole pixels. */
export function coverageOf(
  outlines: readonly Outline[],
  scale: number,
  width: number,
  height: number,
): Uint8Array {
  // Edges at the right end of a row are beyond its pixels.
  const stride = width + 2;
  const areas = new Float32Array(stride * height);
  for (const outline of outlines) {
    const points = pointsOf(outline).map((at) =>
      Number.isInteger(at) ? Math.round(at * scale) : at * scale,
    );
    for (let n = 0; n < points.length; n += 2) {
      const [x, y] = [points.at(n - 2) ?? 0, points.at(n - 1) ?? 0];
      addEdge(areas, stride, x, y, points[n] ?? 0, points[n + 1] ?? 0);
    }
  }
  const covered = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    let sum = 0;
    for (let column = 0; column < width; column++) {
      sum += areas[row * stride + column] ?? 0;
      covered[row * width + column] = Math.min(255, Math.abs(sum) * 255 + 0.5);
    }
  }
  return covered;
}

/** x and y in turns, with curves as lines. */
function pointsOf(outline: Outline): number[] {
  const points: number[] = [];
  for (const [a = 0, b = 0, c, d = 0, e = 0, f = 0] of outline) {
    if (c === undefined) {
      points.push(a, b);
      continue;
    }
    const [x = 0, y = 0] = points.slice(-2);
    for (let n = 1; n <= LINES; n++) {
      const t = n / LINES;
      const [p, q, r, s] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
      points.push(p * x + q * a + r * c + s * e, p * y + q * b + r * d + s * f);
    }
  }
  return points;
}

/** To each row that it crosses, what it leaves uncovered to its right: of the pixel that it is in, and of the next. */
function addEdge(areas: Float32Array, stride: number, x1: number, y1: number, x2: number, y2: number): void {
  if (y1 === y2) return;
  const sign = y1 < y2 ? 1 : -1;
  const [top, bottom] = y1 < y2 ? [y1, y2] : [y2, y1];
  const slope = (x2 - x1) / (y2 - y1);
  let x = y1 < y2 ? x1 : x2;
  for (let row = Math.floor(top); row < bottom; row++) {
    const share = Math.min(row + 1, bottom) - Math.max(row, top);
    const next = x + slope * share;
    addCrossing(areas, row * stride, Math.min(x, next), Math.max(x, next), sign * share);
    x = next;
  }
}

/** An edge within one row, which covers `area` of the row's height between `left` and `right`. */
function addCrossing(areas: Float32Array, row: number, left: number, right: number, area: number): void {
  const add = (pixel: number, by: number) => {
    areas[row + pixel] = (areas[row + pixel] ?? 0) + by;
  };
  const first = Math.floor(left);
  if (right <= first + 1) {
    const uncovered = (left + right) / 2 - first;
    add(first, area * (1 - uncovered));
    add(first + 1, area * uncovered);
    return;
  }
  // What lies left of a pixel's right end, of a line from `left` to `right`, and how much more than at the pixel before it.
  let before = 0;
  let passed = 0;
  for (let pixel = first; passed < 1; pixel++) {
    const from = Math.max(left, pixel);
    const to = Math.min(right, pixel + 1);
    const reached = (to - left) / (right - left);
    const covered = (reached - passed) * (pixel + 1 - (from + to) / 2) + passed;
    add(pixel, area * (covered - before));
    before = covered;
    passed = to >= right ? 1 : reached;
    if (passed === 1) add(pixel + 1, area * (1 - covered));
  }
}
