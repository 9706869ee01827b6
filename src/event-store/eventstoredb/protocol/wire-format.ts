// What the messages of this folder share: field keys, and a loop over the fields of a message.
import protobuf from "protobufjs/minimal.js";

export type Writer = protobuf.Writer;
export type Reader = protobuf.Reader;

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Key of a field that holds a message, bytes or text. */
export function lengthKey(field: number): number {
  return (field << 3) | LENGTH_DELIMITED;
}

/** Key of a field that holds a number, a flag or a choice. */
export function numberKey(field: number): number {
  return (field << 3) | VARINT;
}

export function newWriter(): Writer {
  return protobuf.Writer.create();
}

/** A message is read in one pass: what is nested in it has no reader of its own, and no bytes. */
export function readerOf(message: Uint8Array): Reader {
  return protobuf.Reader.create(message);
}

/** Where the nested message ends whose length comes next. */
export function endOfNested(reader: Reader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

/**
 * Calls `read` with the key of each field up to `end`; it answers false for a field that it didn't read, which is passed
 * over.
 */
export function readFields(reader: Reader, end: number, read: (key: number) => boolean): void {
  while (reader.pos < end) {
    const key = reader.uint32();
    if (!read(key)) reader.skipType(key & 7);
  }
}

/** An unsigned 64-bit number in decimal digits. */
export function unsigned(reader: Reader): string {
  const { high, low } = reader.uint64();
  const value = (high >>> 0) * 2 ** 32 + (low >>> 0);
  if (Number.isSafeInteger(value)) return String(value);
  return String((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
}

/** An empty message, which chooses among the members of a `oneof`. */
export function writeChoice(writer: Writer, field: number): void {
  writer.uint32(lengthKey(field)).uint32(0);
}
