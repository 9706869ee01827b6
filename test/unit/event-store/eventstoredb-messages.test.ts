// Our protobuf messages against bytes that the generated code of both client libraries wrote for the same content.
import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../src/event-store/event-columns.ts";
import { WrongRevision } from "../../../src/event-store/eventstoredb/errors.ts";
import { proposed } from "../../../src/event-store/eventstoredb/events.ts";
import {
  appendAnswer,
  appendEvent,
  appendOptions,
  batchAnswer,
  batchRequest,
  proposedMessage,
} from "../../../src/event-store/eventstoredb/protocol/append-messages.ts";
import { answerReader } from "../../../src/event-store/eventstoredb/protocol/read-answer.ts";
import {
  lastRequest,
  prefixRequest,
  streamRequest,
  subscriptionRequest,
} from "../../../src/event-store/eventstoredb/protocol/read-request.ts";
import { lengthKey, newWriter } from "../../../src/event-store/eventstoredb/protocol/wire-format.ts";
import { sampleColumns } from "../../support/event-store/sample-events.ts";

const hex = (message: Uint8Array) => Buffer.from(message).toString("hex");
const bytes = (text: string) => Buffer.from(text, "hex");
const stream = "link-h/slug";
const categories = ["account", "clicks"];

describe("requests to EventStoreDB", () => {
  it.each([
    ["none", "0a180a141a12636c69636b732dc3a42d32303236303130311a00"],
    ["any", "0a180a141a12636c69636b732dc3a42d32303236303130312200"],
    [-1, "0a180a141a12636c69636b732dc3a42d32303236303130311a00"],
    [0, "0a180a141a12636c69636b732dc3a42d32303236303130311000"],
    [123_456_789, "0a1b0a141a12636c69636b732dc3a42d323032363031303110959aef3a"],
  ] as const)("begin an append at revision %s as both clients do", (expected, message) => {
    expect(hex(appendOptions("clicks-ä-20260101", expected))).toBe(message);
  });

  it("propose an event as both clients do", () => {
    const event = {
      id: "018f2b1c-0000-7000-8000-000000000001",
      type: "LinkClicked",
      data: '{"a":"ü€😀","n":1,"q":"x"}',
      metadata: '{"schemaVersion":1}',
    };
    expect(hex(appendEvent(proposedMessage(event)))).toBe(
      "1295010a26122430313866326231632d303030302d373030302d383030302d30303030303030303030303112200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e12130a0474797065120b4c696e6b436c69636b65641a137b22736368656d6156657273696f6e223a317d221f7b2261223a22c3bce282acf09f9880222c226e223a312c2271223a2278227d",
    );
  });

  it("put a whole append into one message as both clients do", () => {
    const events = [1, 2].map((n) => {
      const id = `018f2b1c-0000-7000-8000-00000000000${n}`;
      const event = { id, type: "LinkClicked", data: '{"a":"ü"}', metadata: '{"schemaVersion":1}' };
      return { id, message: proposedMessage(event) };
    });
    const id = events[0]?.id ?? "";
    expect(hex(batchRequest(id, { stream: "clicks-a", expected: 41, events }))).toBe(
      "0a26122430313866326231632d303030302d373030302d383030302d303030303030303030303031120e0a0a1a08636c69636b732d6110291a80010a26122430313866326231632d303030302d373030302d383030302d30303030303030303030303112200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e12130a0474797065120b4c696e6b436c69636b65641a137b22736368656d6156657273696f6e223a317d220a7b2261223a22c3bc227d1a80010a26122430313866326231632d303030302d373030302d383030302d30303030303030303030303212200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e12130a0474797065120b4c696e6b436c69636b65641a137b22736368656d6156657273696f6e223a317d220a7b2261223a22c3bc227d2001",
    );
  });

  it("propose the events of a batch in columns as they do a list of them", () => {
    const columns = sampleColumns(5);
    expect(proposed(columns)).toEqual(proposed(eventsOf(columns)));
  });

  it.each([
    [
      { from: undefined, backwards: false, limit: 250 },
      "0a1c0a110a0d1a0b6c696e6b2d682f736c75671a0028fa0142004a021200",
    ],
    [
      { from: undefined, backwards: true, limit: Number.MAX_SAFE_INTEGER },
      "0a240a110a0d1a0b6c696e6b2d682f736c75672200180128ffffffffffffff0f42004a021200",
    ],
    [
      { from: 0, backwards: false, limit: 250 },
      "0a1c0a110a0d1a0b6c696e6b2d682f736c7567100028fa0142004a021200",
    ],
    [
      { from: 7_777_777_777, backwards: true, limit: 250 },
      "0a220a150a0d1a0b6c696e6b2d682f736c756710f1f0ddfc1c180128fa0142004a021200",
    ],
  ])("read a stream as both clients do: %o", (read, message) => {
    expect(hex(streamRequest({ stream, ...read }))).toBe(message);
  });

  it.each([
    [undefined, "0a261202120028033a1a0a1312086163636f756e742d1207636c69636b732d18e80728014a021200"],
    [
      { commit: "9007199254740993", prepare: "9007199254740992" },
      "0a3812140a1208818080808080801010808080808080801028033a1a0a1312086163636f756e742d1207636c69636b732d18e80728014a021200",
    ],
    [
      { commit: "5", prepare: "0" },
      "0a2812040a02080528033a1a0a1312086163636f756e742d1207636c69636b732d18e80728014a021200",
    ],
  ])("read the log by categories as both clients do: %o", (from, message) => {
    expect(hex(prefixRequest({ from, categories, limit: 3 }))).toBe(message);
  });

  it("read the last event of the log as both clients do", () => {
    expect(hex(lastRequest())).toBe("0a0e12021a001801280142004a021200");
  });

  it.each([
    [undefined, "0a261202120032003a1a0a1312086163636f756e742d1207636c69636b732d18e80728014a021200"],
    [
      { commit: "12345678901", prepare: "12345678900" },
      "0a32120e0a0c08b5b8f0fe2d10b4b8f0fe2d32003a1a0a1312086163636f756e742d1207636c69636b732d18e80728014a021200",
    ],
  ])("subscribe to the log as both clients do: %o", (after, message) => {
    expect(hex(subscriptionRequest({ after, categories, buffer: 1 }))).toBe(message);
  });
});

describe("answers of EventStoreDB", () => {
  it("are events with what they hold, also beyond the safe numbers", () => {
    const message = bytes(
      "0a81020af5010a26122430313866326231632d303030302d373030302d383030302d303030303030303030303031120b1a09636c69636b732dc3a4182a200c28818080808080801032200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e321c0a07637265617465641211313730303030303030303132333939393932130a0474797065120b4c696e6b436c69636b65643a3b7b22736368656d6156657273696f6e223a312c2224636f7272656c6174696f6e4964223a2263222c2224636175736174696f6e4964223a2264227d421f7b2261223a22c3bce282acf09f9880222c226e223a312c2271223a2278227d188180808080808010",
    );
    expect(answerReader()(message)).toEqual({
      id: "018f2b1c-0000-7000-8000-000000000001",
      type: "LinkClicked",
      data: { a: "ü€😀", n: 1, q: "x" },
      metadata: { schemaVersion: 1, correlationId: "c", causationId: "d" },
      stream: "clicks-ä",
      revision: 42,
      position: "00009007199254740993:00000000000000000012",
      recordedAt: new Date(1_700_000_000_123).toISOString(),
    });
  });

  it.each([
    ["application/json", '{"a":1}', { a: 1 }],
    ["application/json", "no JSON", "no JSON"],
    ["application/octet-stream", "bytes", Buffer.from("bytes")],
  ])(
    "are %s also where that comes after the data, and end where the next field begins",
    (type, data, read) => {
      const writer = newWriter().uint32(lengthKey(1)).fork();
      for (const id of ["1", "2"]) {
        writer.uint32(lengthKey(1)).fork();
        writer.uint32(lengthKey(8)).string(data);
        writer.uint32(lengthKey(6)).fork();
        writer.uint32(lengthKey(2)).string(type).uint32(lengthKey(1)).string("content-type").ldelim();
        writer.uint32(lengthKey(1)).fork().uint32(lengthKey(2)).string(id).ldelim();
        writer.ldelim();
      }
      const message = Buffer.from(writer.ldelim().finish());
      expect(answerReader()(message)).toMatchObject({ id: "2", data: read });
    },
  );

  it.each([
    ["cut off", "0a080a060a041202616263"],
    ["longer inside than outside", "0a080a060a0512036162632800"],
  ])("are refused when they are %s", (_, message) => {
    expect(() => answerReader()(bytes(message))).toThrow(RangeError);
  });

  it.each([
    ["a checkpoint", "1a0408011001", "alive"],
    ["a confirmation", "12030a0178", "alive"],
    ["a stream that is missing", "22050a031a0178", "no stream"],
  ])("may be %s", (_, message, answer) => {
    expect(answerReader()(bytes(message))).toBe(answer);
  });

  it("tell where an append went", () => {
    const position = { commit: "18446744073709551615", prepare: "7" };
    expect(appendAnswer(bytes("0a1108001a0d08ffffffffffffffffff011007"))).toEqual({ revision: 0, position });
    expect(appendAnswer(bytes("0a0408092200"))).toEqual({ revision: 9, position: undefined });
  });

  it("tell where an append in one message went, and nothing else of it", () => {
    const success =
      "0a26122430313866326231632d303030302d373030302d383030302d3030303030303030303030311a0f082b1a0b08818080808080801010072829";
    const position = { commit: "9007199254740993", prepare: "7" };
    expect(batchAnswer(bytes(success))).toEqual({ appended: { revision: 43, position } });
    expect(batchAnswer(bytes("120412026e6f"))).toEqual({ appended: undefined });
  });

  it.each([
    ["120430084007", 8],
    ["12043a004007", "none"],
  ])("refuse an append with the stream's revision", (message, actual) => {
    const answer = appendAnswer(bytes(message));
    expect(answer).toBeInstanceOf(WrongRevision);
    expect(answer).toMatchObject({ actual });
  });
});
