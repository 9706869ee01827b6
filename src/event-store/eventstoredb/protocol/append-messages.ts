// The messages of an append as protobuf: writing them through the clients' generated code took a quarter of the recorder's time.
import type { ExpectedRevision } from "../../port.ts";
import type { Append, Appended } from "../driver.ts";
import { WrongRevision } from "../errors.ts";
import {
  lengthKey,
  newWriter,
  numberKey,
  type Reader,
  readMessage,
  readNested,
  unsigned,
  type Writer,
  writeChoice,
} from "./wire-format.ts";

export const APPEND_PATH = "/event_store.client.streams.Streams/Append";
export const BATCH_APPEND_PATH = "/event_store.client.streams.Streams/BatchAppend";

/** `data`, `metadata`: JSON text. */
export type ProposedEvent = { id: string; type: string; data: string; metadata: string };

const EXPECTED = { none: 3, any: 4 };

/** The first message of an `Append`: `AppendReq.options`. */
export function appendOptions(stream: string, expected: ExpectedRevision): Uint8Array {
  const writer = newWriter().uint32(lengthKey(1)).fork();
  writeOptions(writer, stream, expected);
  return writer.ldelim().finish();
}

/** Each further message of an `Append`: `AppendReq.proposed_message`. */
export function appendEvent(proposed: Uint8Array): Uint8Array {
  return newWriter().uint32(lengthKey(2)).bytes(proposed).finish();
}

/** All of an append in one message, `BatchAppendReq`. `id`: a UUID that its answer repeats. */
export function batchRequest(
  id: string,
  { stream, expected, events }: Pick<Append, "stream" | "expected" | "events">,
): Uint8Array {
  const writer = newWriter();
  writer.uint32(lengthKey(1)).fork().uint32(lengthKey(2)).string(id).ldelim();
  writer.uint32(lengthKey(2)).fork();
  writeOptions(writer, stream, expected);
  writer.ldelim();
  for (const { message } of events) writer.uint32(lengthKey(3)).bytes(message);
  return writer.uint32(numberKey(4)).bool(true).finish();
}

/** Alike in both requests. */
function writeOptions(writer: Writer, stream: string, expected: ExpectedRevision): void {
  writer.uint32(lengthKey(1)).fork().uint32(lengthKey(3)).string(stream).ldelim();
  if (typeof expected !== "number") writeChoice(writer, EXPECTED[expected]);
  else if (expected < 0) writeChoice(writer, EXPECTED.none);
  else writer.uint32(numberKey(2)).uint64(expected);
}

/** `ProposedMessage`. */
export function proposedMessage({ id, type, data, metadata }: ProposedEvent): Uint8Array {
  const writer = newWriter();
  writer.uint32(lengthKey(1)).fork().uint32(lengthKey(2)).string(id).ldelim();
  writeProperty(writer, "content-type", "application/json");
  writeProperty(writer, "type", type);
  writer.uint32(lengthKey(3)).string(metadata);
  return writer.uint32(lengthKey(4)).string(data).finish();
}

/** An entry of `ProposedMessage.metadata`, a map of texts. */
function writeProperty(writer: Writer, name: string, value: string): void {
  writer.uint32(lengthKey(2)).fork();
  writer.uint32(lengthKey(1)).string(name).uint32(lengthKey(2)).string(value).ldelim();
}

/** `AppendResp`. A refusal is an answer too, so it is returned and not thrown. */
export function appendAnswer(message: Uint8Array): Appended | WrongRevision {
  let answer: Appended | WrongRevision | undefined;
  readMessage(message, (key, reader) => {
    if (key === lengthKey(1)) answer = appended(reader);
    else if (key === lengthKey(2)) answer = wrongRevision(reader);
    else return false;
    return true;
  });
  if (!answer) throw new Error("The event store's answer to an append can't be read");
  return answer;
}

/** `BatchAppendResp`; undefined for anything but a success. */
export function batchAnswer(message: Uint8Array): { appended: Appended | undefined } {
  let success: Appended | undefined;
  readMessage(message, (key, reader) => {
    if (key !== lengthKey(3)) return false;
    success = appended(reader);
    return true;
  });
  return { appended: success };
}

function appended(reader: Reader): Appended {
  let revision = 0;
  let position: Appended["position"];
  readNested(reader, (key) => {
    if (key === numberKey(1)) revision = Number(unsigned(reader));
    else if (key === lengthKey(3)) position = logPosition(reader);
    else return false;
    return true;
  });
  return { revision, position };
}

function wrongRevision(reader: Reader): WrongRevision {
  let actual: number | "none" = "none";
  readNested(reader, (key) => {
    if (key !== numberKey(6)) return false;
    actual = Number(unsigned(reader));
    return true;
  });
  return new WrongRevision(actual);
}

function logPosition(reader: Reader): Appended["position"] {
  let [commit, prepare] = ["0", "0"];
  readNested(reader, (key) => {
    if (key === numberKey(1)) commit = unsigned(reader);
    else if (key === numberKey(2)) prepare = unsigned(reader);
    else return false;
    return true;
  });
  return { commit, prepare };
}
