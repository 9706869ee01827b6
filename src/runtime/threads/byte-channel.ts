// The messages of calls.ts as bytes, for two processes with a socket between them.
import { deserialize, serialize } from "node:v8";
import type { Channel, Message } from "./calls.ts";

/** Of a message's length, before it. */
const LENGTH_BYTES = 4;

/** Of a message: what claims to be longer isn't kept until it is whole. */
const MAX_BYTES = 64 * 1024 * 1024;

/** `write` gets what is to be sent. `take` is given what has arrived, in any pieces; it throws where that is no message, or one above 64 MB. */
export function byteChannel(write: (bytes: Buffer) => void): Channel & { take(bytes: Uint8Array): void } {
  let receive: (messages: Message[]) => void = () => undefined;
  let pieces: Uint8Array[] = [];
  let arrived = 0;
  /** Of the message that is arriving, with its length before it; until that is known, of the length. */
  let expected = LENGTH_BYTES;
  return {
    send(messages) {
      const body = serialize(messages);
      const head = Buffer.alloc(LENGTH_BYTES);
      head.writeUInt32BE(body.length);
      write(Buffer.concat([head, body]));
    },
    onMessages(listener) {
      receive = listener;
    },
    take(bytes) {
      pieces.push(bytes);
      arrived += bytes.length;
      while (arrived >= expected) {
        const all = Buffer.concat(pieces);
        pieces = [all];
        const length = all.readUInt32BE();
        if (length > MAX_BYTES) throw new RangeError(`A message of ${length} bytes is no message`);
        expected = LENGTH_BYTES + length;
        if (arrived < expected) return;
        receive(deserialize(all.subarray(LENGTH_BYTES, expected)) as Message[]);
        pieces = [all.subarray(expected)];
        arrived -= expected;
        expected = LENGTH_BYTES;
      }
    },
  };
}
