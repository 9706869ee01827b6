// Between the double's events and the messages of EventStoreDB's protocol.
import type { ExpectedRevision, NewEvent, RecordedEvent } from "../../../../src/event-store/port.ts";
import type {
  AppendOptions,
  Identifier,
  ProposedMessage,
  ReadAnswer,
  ReadOptions,
  WirePosition,
} from "./protocol.ts";

/** Byte offsets, as on the real server: no two events follow each other at a distance of one. */
const STRIDE = 100n;

export function wirePosition(position: string): WirePosition {
  const offset = String(BigInt(position) * STRIDE);
  return { commitPosition: offset, preparePosition: offset };
}

/** @throws RangeError inside an event, as the real server refuses a position where no record starts */
export function storePosition(commit: string): string {
  const offset = BigInt(commit);
  if (offset % STRIDE !== 0n) throw new RangeError("Trying to read from an invalid position.");
  return String(offset / STRIDE).padStart(20, "0");
}

export function streamName(identifier: Identifier | undefined): string {
  return identifier?.streamName?.toString("utf8") ?? "";
}

export function identifierOf(stream: string): Identifier {
  return { streamName: Buffer.from(stream) };
}

export function newEvent(message: ProposedMessage): NewEvent {
  return {
    id: message.id?.string ?? "",
    type: message.metadata?.type ?? "",
    data: JSON.parse(String(message.data)),
    metadata: JSON.parse(String(message.customMetadata)),
  };
}

export function expectedRevision(options: AppendOptions): ExpectedRevision {
  if (options.any) return "any";
  if (options.noStream) return "none";
  return Number(options.revision);
}

const TICKS_PER_MILLISECOND = 10_000n;

export function eventAnswer(event: RecordedEvent): ReadAnswer {
  const position = wirePosition(event.position);
  const recorded = {
    ...position,
    id: { string: event.id },
    streamIdentifier: identifierOf(event.stream),
    streamRevision: String(event.revision),
    data: bytes(event.data),
    customMetadata: bytes(event.metadata),
    metadata: {
      type: event.type,
      "content-type": "application/json",
      created: String(BigInt(Date.parse(event.recordedAt)) * TICKS_PER_MILLISECOND),
    },
  };
  return { event: { event: recorded, commitPosition: position.commitPosition } };
}

export function checkpointAnswer(position: string): ReadAnswer {
  return { checkpoint: wirePosition(position) };
}

export function prefixesOf(options: ReadOptions): readonly string[] {
  return options.filter?.streamIdentifier?.prefix ?? [""];
}

function bytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
