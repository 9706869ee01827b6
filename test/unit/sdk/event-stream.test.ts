// The client reads server-sent events however the network cuts them.
import fc from "fast-check";
import { expect, it } from "vitest";
import { messagesOf, type StreamMessage } from "../../../sdk/src/event-stream.js";

async function read(chunks: readonly Uint8Array[]): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = [];
  for await (const message of messagesOf(ReadableStream.from(chunks), 10_000)) messages.push(message);
  return messages;
}

const line = fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replace(/[\r\n]/g, ""));
const message = fc.record({
  event: fc.constantFrom("message", "alive"),
  id: fc.option(line, { nil: undefined }),
  data: fc.array(line, { minLength: 1, maxLength: 3 }),
  retryMs: fc.option(fc.nat(), { nil: undefined }),
});

it("reads the same messages wherever the bytes are cut, with each end of lines", async () => {
  const cuts = fc.array(fc.nat(300), { maxLength: 20 });
  const ends = fc.constantFrom("\n", "\r\n");
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 6 }), cuts, ends, async (messages, places, end) => {
      const lines = messages.flatMap(({ event, id, data, retryMs }) => [
        ": a comment",
        `event: ${event}`,
        ...(id === undefined ? [] : [`id: ${id}`]),
        ...data.map((text) => `data: ${text}`),
        ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
        "",
      ]);
      const bytes = new TextEncoder().encode(lines.map((text) => text + end).join(""));
      const sorted = [0, ...places, bytes.length].sort((a, b) => a - b);
      const chunks = sorted.slice(1).map((place, n) => bytes.subarray(sorted[n], place));
      expect(await read(chunks)).toEqual(
        messages.map(({ data, ...rest }) => ({ ...rest, data: data.join("\n") })),
      );
    }),
  );
});

it("leaves out a message that the connection broke off", async () => {
  const bytes = new TextEncoder().encode("id: 1\ndata: whole\n\nid: 2\ndata: ha");
  expect((await read([bytes])).map(({ id }) => id)).toEqual(["1"]);
});

it("takes a connection that says nothing for broken", async () => {
  const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
  await expect(messagesOf(silent, 10).next()).rejects.toThrow("fell silent");
});
