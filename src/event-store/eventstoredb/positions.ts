// How positions in the server's log become text that sorts in log order, and back.
import type { Position } from "../port.ts";

const DIGITS = 20;

/** Where a record starts in the log, in decimal digits; text of one piece outside of this folder. */
export type LogPosition = { commit: string; prepare: string };

/** Both numbers, each padded to the width of an unsigned 64-bit integer, so that text order is log order. */
export function positionText({ commit, prepare }: LogPosition): Position {
  return `${commit.padStart(DIGITS, "0")}:${prepare.padStart(DIGITS, "0")}`;
}

/** @throws RangeError when the text isn't a position of this store, such as one kept from another backend */
export function logPosition(position: Position): LogPosition {
  const match = /^(\d{20}):(\d{20})$/.exec(position);
  if (!match) throw new RangeError(`${position} is not a position of EventStoreDB`);
  const digits = (padded: string) => padded.replace(/^0+(?=\d)/, "");
  return { commit: digits(match[1] as string), prepare: digits(match[2] as string) };
}
