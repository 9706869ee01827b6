// Positions of the SQLite log as the text that its readers see.
import type { Position } from "../port.ts";

const DIGITS = 20;

export function positionText(position: number): Position {
  return String(position).padStart(DIGITS, "0");
}

/** `positionText` for many positions that follow each other, at a third of its cost. */
export function positionTexts(): (position: number) => Position {
  let thousand = Number.NaN;
  let head = "";
  return (position) => {
    const thousandOf = Math.floor(position / 1000);
    if (thousandOf !== thousand) {
      thousand = thousandOf;
      head = String(thousand).padStart(DIGITS - 3, "0");
    }
    return head + String(position - thousand * 1000).padStart(3, "0");
  };
}
