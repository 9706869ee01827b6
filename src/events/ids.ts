// Event ids that sort by time, so that inserts go to the end of the unique index over them and not to random pages.

const VARIANT = "89ab";

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of `at`, milliseconds since 1970, then 74 of the 80 bits
 * that `random` gives as 20 lower-case hex digits.
 */
export function timeOrderedId(at: number, random: string): string {
  if (!/^[0-9a-f]{20}$/.test(random)) throw new RangeError("timeOrderedId needs 20 lower-case hex digits");
  const time = at.toString(16).padStart(12, "0");
  const variant = VARIANT[Number.parseInt(random[4] as string, 16) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(1, 4)}-${variant}${random.slice(5, 8)}-${random.slice(8)}`;
}
