// Messages over a stream of bytes arrive whole and in their order, in whatever pieces the bytes come.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteChannel } from "../../../src/runtime/threads/byte-channel.ts";
import { Calls, type Message } from "../../../src/runtime/threads/calls.ts";
import { remoteMethods, remoteStreams } from "../../../src/runtime/threads/remote.ts";

const messages = fc.array(
  fc.record({
    op: fc.constant("post" as const),
    object: fc.string(),
    method: fc.string(),
    args: fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array(), fc.constant(undefined))),
  }),
);

describe("messages over bytes", () => {
  it("arrive as they were sent, in any pieces", () => {
    fc.assert(
      fc.property(fc.array(messages), fc.array(fc.integer({ min: 1, max: 50 })), (sent, cuts) => {
        const bytes: Buffer[] = [];
        const sender = byteChannel((part) => bytes.push(part));
        for (const one of sent) sender.send(one);
        const arrived: Message[][] = [];
        const receiver = byteChannel(() => undefined);
        receiver.onMessages((received) => arrived.push(received));
        let rest = Buffer.concat(bytes);
        for (const cut of cuts) {
          receiver.take(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        receiver.take(rest);
        expect(JSON.stringify(arrived)).toBe(JSON.stringify(sent));
      }),
    );
  });

  it("call methods of the other side, and take its streams one by one", async () => {
    type Shop = {
      double(n: number): Promise<number>;
      count(signal: AbortSignal): AsyncGenerator<number>;
    };
    let made = 0;
    const shop: Shop = {
      double: async (n) => n * 2,
      async *count(signal) {
        while (!signal.aborted) yield ++made;
      },
    };
    const near = byteChannel((bytes) => far.take(bytes));
    const far = byteChannel((bytes) => near.take(bytes));
    const calls = new Calls(near, {}, Error);
    new Calls(far, { shop: () => shop }, Error);
    const { double } = remoteMethods<Shop, "double">(calls, "shop", ["double"]);
    const { count } = remoteStreams<Shop, "count">(calls, "shop", ["count"]);
    expect(await double(21)).toBe(42);
    for await (const n of count(new AbortController().signal)) if (n === 3) break;
    expect(made).toBe(3);
  });

  it("are refused where they are none", () => {
    expect(() => byteChannel(() => undefined).take(Buffer.from([0, 0, 0, 1, 0]))).toThrow();
  });

  it("are refused by their length alone above 64 MB, before they are kept", () => {
    const { take } = byteChannel(() => undefined);
    expect(() => take(Buffer.from([4, 0, 0, 0, 0]))).not.toThrow();
    expect(() => byteChannel(() => undefined).take(Buffer.from([4, 0, 0, 1]))).toThrow(RangeError);
  });
});
