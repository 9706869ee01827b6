// The answers of a read, from protobuf straight to events of the port: the clients' generated messages and their conversion
// took a sixth of the projector's time.
import { isoTexts } from "../../iso-texts.ts";
import type { RecordedEvent } from "../../port.ts";
import { recordedMetadata } from "../events.ts";
import { positionText } from "../positions.ts";
import { lengthKey, numberKey, type Reader, readMessage, readNested, unsigned } from "./wire-format.ts";

/** `alive`: no event, but a sign of life, such as a checkpoint. */
export type ReadAnswer = RecordedEvent | "alive" | "no stream";

/** The server's largest value stands for "no position": servers before 22.6 say so in stream reads. */
const NO_POSITION = "18446744073709551615";

type TextOfTime = ReturnType<typeof isoTexts>;

/**
 * Reads each `ReadResp` of one call, whose events are close together in time. What it returns throws an Error for an event
 * that came without its position.
 */
export function answerReader(): (message: Uint8Array) => ReadAnswer {
  const textOfTime = isoTexts();
  return (message) => {
    let answer: ReadAnswer = "alive";
    readMessage(message, (key, reader) => {
      if (key === lengthKey(4)) answer = "no stream";
      if (key !== lengthKey(1)) return false;
      answer = resolvedEvent(reader, textOfTime) ?? answer;
      return true;
    });
    return answer;
  };
}

/** `ReadEvent.event`; it has no link, as none is asked for. */
function resolvedEvent(reader: Reader, textOfTime: TextOfTime): RecordedEvent | undefined {
  let event: RecordedEvent | undefined;
  readNested(reader, (key) => {
    if (key !== lengthKey(1)) return false;
    event = recordedEvent(reader, textOfTime);
    return true;
  });
  return event;
}

function recordedEvent(reader: Reader, textOfTime: TextOfTime): RecordedEvent {
  let [id, stream, revision, commit, prepare] = ["", "", 0, "0", "0"];
  let [type, contentType, created, metadata] = ["", "", "", ""];
  let dataAt: number | undefined;
  readNested(reader, (key) => {
    if (key === lengthKey(1)) id = textField(reader, 2);
    else if (key === lengthKey(2)) stream = textField(reader, 3);
    else if (key === numberKey(3)) revision = Number(unsigned(reader));
    else if (key === numberKey(4)) prepare = unsigned(reader);
    else if (key === numberKey(5)) commit = unsigned(reader);
    else if (key === lengthKey(6)) {
      const { name, value } = property(reader);
      if (name === "type") type = value;
      else if (name === "created") created = value;
      else if (name === "content-type") contentType = value;
    } else if (key === lengthKey(7)) metadata = reader.string();
    else {
      // Passed over, as its content type may come after it.
      if (key === lengthKey(8)) dataAt = reader.pos;
      return false;
    }
    return true;
  });
  if (commit === NO_POSITION)
    throw new Error(`${stream} came without positions: EventStoreDB 22.10 or later is needed`);
  const end = reader.pos;
  const data = dataOf(reader, dataAt, contentType);
  reader.pos = end;
  return {
    id,
    type,
    data,
    metadata: recordedMetadata(metadata === "" ? undefined : json(metadata)),
    stream,
    revision,
    position: positionText({ commit, prepare }),
    recordedAt: textOfTime(milliseconds(created)),
  };
}

/** The one text of a message that has no more, such as an id or a stream's name. */
function textField(reader: Reader, field: number): string {
  let text = "";
  readNested(reader, (key) => {
    if (key !== lengthKey(field)) return false;
    text = reader.string();
    return true;
  });
  return text;
}

/** An entry of `RecordedEvent.metadata`, a map of texts. */
function property(reader: Reader): { name: string; value: string } {
  let [name, value] = ["", ""];
  readNested(reader, (key) => {
    if (key === lengthKey(1)) name = reader.string();
    else if (key === lengthKey(2)) value = reader.string();
    else return false;
    return true;
  });
  return { name, value };
}

/** `at`: place of the field's length; undefined when the event has none. */
function dataOf(reader: Reader, at: number | undefined, contentType: string): unknown {
  const isJson = contentType === "application/json";
  if (at === undefined) return isJson ? "" : new Uint8Array(0);
  reader.pos = at;
  return isJson ? json(reader.string()) : reader.bytes();
}

/** Foreign events may not be JSON although they say so: theirs reads as text, and nothing here handles them. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** From units of 100 ns since 1970 in decimal digits, more of them than a number can hold. */
function milliseconds(created: string): number {
  return Number(created.slice(0, -4));
}
