// Event ids that sort by time, so that inserts go to the end of the unique index over them and not to random pages.
const VARIANT = "89ab";

/** `at`: milliseconds since 1970. `number`: an integer from 0 to 2 ** 40 - 1. */
export type NumberedId = (at: number, number: number) => string;

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of `at`, milliseconds since 1970, then 74 of the 80 bits
 * that `random` gives as 20 lower-case hex digits.
 */
export function timeOrderedId(at: number, random: string): string {
  if (!/^[0-9a-f]{20}$/.test(random)) throw new RangeError("timeOrderedId needs 20 lower-case hex digits");
  return numberedIds(random.slice(0, 10))(at, Number.parseInt(random.slice(10), 16));
}

/** Ids whose last 40 bits are a number; `writer`: at least 10 lower-case hex digits, of which the first 10 are used. */
export function numberedIds(writer: string): NumberedId {
  if (!/^[0-9a-f]{10}/.test(writer)) throw new RangeError("numberedIds needs 10 lower-case hex digits");
  const variant = VARIANT[Number.parseInt(writer[4] as string, 16) & 3];
  const middle = `-7${writer.slice(1, 4)}-${variant}${writer.slice(5, 8)}-${writer.slice(8, 10)}`;
  let head = "";
  let headAt = Number.NaN;
  return (at, number) => {
    if (at !== headAt) {
      const time = at.toString(16).padStart(12, "0");
      head = `${time.slice(0, 8)}-${time.slice(8)}${middle}`;
      headAt = at;
    }
    return head + number.toString(16).padStart(10, "0");
  };
}
