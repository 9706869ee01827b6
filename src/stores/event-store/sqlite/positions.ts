// Positions of the SQLite log as the text that its readers see.
import type { Position } from "../port.ts";

const DIGITS = 20;

export function positionText(position: number): Position {
  return String(position).padStart(DIGITS, "0");
}
