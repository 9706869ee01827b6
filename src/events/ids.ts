// Event ids that sort by time: a unique index over them grows at its end instead of everywhere.

/** A UUID of version 7 (RFC 9562, section 5.7): 48 bits of `at` in milliseconds, then 74 bits of the 10 random bytes. */
export function timeOrderedId(at: Date, random: Uint8Array): string {
  if (random.length < 10) throw new RangeError("timeOrderedId needs 10 random bytes");
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(at.getTime(), 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
