// What the messages of this folder share: field keys, and loops over the fields of a message.
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

/** Gets the key of each field, and answers false for one that it didn't read, which is passed over. */
type ReadField = (key: number, reader: Reader) => boolean;

/** The fields of a whole message. */
export function readMessage(message: Uint8Array, read: ReadField): void {
  const reader = protobuf.Reader.create(message);
  readFields(reader, reader.len, read);
}

/**
 * The fields of the nested message whose length comes next, where it stands: a reader and a buffer for each took longer than
 * reading it. @throws RangeError when its fields don't end where it does
 */
export function readNested(reader: Reader, read: ReadField): void {
  const length = reader.uint32();
  const end = reader.pos + length;
  readFields(reader, end, read);
  if (reader.pos !== end)
    throw new RangeError(`A nested message ends at ${end}, its fields at ${reader.pos}`);
}

function readFields(reader: Reader, end: number, read: ReadField): void {
  while (reader.pos < end) {
    const key = reader.uint32();
    if (!read(key, reader)) reader.skipType(key & 7);
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
