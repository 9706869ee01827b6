// The answers of a read, from protobuf straight to events of the port: the clients' generated messages and their conversion
// took a sixth of the projector's time.
import type { RecordedEvent } from "../../port.ts";
import { recordedMetadata } from "../events.ts";
import { positionText } from "../positions.ts";
import { lengthKey, numberKey, readFields, unsigned } from "./wire-format.ts";

/** `alive`: no event, but a sign of life, such as a checkpoint. */
export type ReadAnswer = RecordedEvent | "alive" | "no stream";

/** The server's largest value stands for "no position": servers before 22.6 say so in stream reads. */
const NO_POSITION = "18446744073709551615";

const NOTHING: Uint8Array = new Uint8Array(0);

/** `ReadResp`. @throws Error for an event that came without its position */
export function readAnswer(message: Uint8Array): ReadAnswer {
  let answer: ReadAnswer = "alive";
  readFields(message, (key, reader) => {
    if (key === lengthKey(4)) answer = "no stream";
    if (key !== lengthKey(1)) return false;
    answer = resolvedEvent(reader.bytes()) ?? answer;
    return true;
  });
  return answer;
}

/** `ReadEvent.event`; it has no link, as none is asked for. */
function resolvedEvent(message: Uint8Array): RecordedEvent | undefined {
  let event: RecordedEvent | undefined;
  readFields(message, (key, reader) => {
    if (key !== lengthKey(1)) return false;
    event = recordedEvent(reader.bytes());
    return true;
  });
  return event;
}

function recordedEvent(message: Uint8Array): RecordedEvent {
  let [id, stream, revision, commit, prepare] = ["", "", 0, "0", "0"];
  let [data, metadata] = [NOTHING, NOTHING];
  const properties: Record<string, string> = {};
  readFields(message, (key, reader) => {
    if (key === lengthKey(1)) id = textField(2, reader.bytes());
    else if (key === lengthKey(2)) stream = textField(3, reader.bytes());
    else if (key === numberKey(3)) revision = Number(unsigned(reader));
    else if (key === numberKey(4)) prepare = unsigned(reader);
    else if (key === numberKey(5)) commit = unsigned(reader);
    else if (key === lengthKey(6)) readProperty(reader.bytes(), properties);
    else if (key === lengthKey(7)) metadata = reader.bytes();
    else if (key === lengthKey(8)) data = reader.bytes();
    else return false;
    return true;
  });
  if (commit === NO_POSITION)
    throw new Error(`${stream} came without positions: EventStoreDB 22.10 or later is needed`);
  return {
    id,
    type: properties.type ?? "",
    data: properties["content-type"] === "application/json" ? json(data) : data,
    metadata: recordedMetadata(metadata.length > 0 ? json(metadata) : undefined),
    stream,
    revision,
    position: positionText({ commit, prepare }),
    recordedAt: timeOf(properties.created ?? ""),
  };
}

/** The one text of a message that has no more, such as an id or a stream's name. */
function textField(field: number, message: Uint8Array): string {
  let text = "";
  readFields(message, (key, reader) => {
    if (key !== lengthKey(field)) return false;
    text = reader.string();
    return true;
  });
  return text;
}

/** An entry of `RecordedEvent.metadata`, a map of texts. */
function readProperty(message: Uint8Array, properties: Record<string, string>): void {
  properties[textField(1, message)] = textField(2, message);
}

/** Foreign events may not be JSON although they say so: theirs reads as text, and nothing here handles them. */
function json(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** From units of 100 ns since 1970 in decimal digits, more of them than a number can hold. */
function timeOf(created: string): string {
  return new Date(Number(created.slice(0, -4))).toISOString();
}
