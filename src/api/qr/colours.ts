// Colours of QR codes as bytes.
/** Of `#` and 3, 4, 6 or 8 hex digits: red, green, blue and opacity. */
export function rgba(colour: string): Buffer {
  const digits = colour.slice(1);
  const long = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  return Buffer.from(long.padEnd(8, "f"), "hex");
}
