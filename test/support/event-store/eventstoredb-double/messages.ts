// Between the double's events and EventStoreDB's protocol buffers.
import shared from "@eventstore/db-client/generated/shared_pb.js";
import type {
  AppendReq,
  BatchAppendReq,
  ReadResp as ReadAnswer,
  ReadReq as ReadRequest,
} from "@eventstore/db-client/generated/streams_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ExpectedRevision, NewEvent, RecordedEvent } from "../../../../src/event-store/port.ts";

/** Byte offsets, as on the real server: no two events follow each other at a distance of one. */
const STRIDE = 100n;

export function wirePosition(position: string): string {
  return String(BigInt(position) * STRIDE);
}

/** @throws RangeError inside an event, as the real server refuses a position where no record starts */
export function storePosition(commit: string): string {
  const offset = BigInt(commit);
  if (offset % STRIDE !== 0n) throw new RangeError("Trying to read from an invalid position.");
  return String(offset / STRIDE).padStart(20, "0");
}

export function streamName(identifier: InstanceType<typeof shared.StreamIdentifier> | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString("utf8");
}

export function identifierOf(stream: string): InstanceType<typeof shared.StreamIdentifier> {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString("base64"));
}

type ProposedMessage = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

export function newEvent(message: ProposedMessage): NewEvent {
  return {
    id: message.getId()?.getString() ?? "",
    type: message.getMetadataMap().get("type") ?? "",
    data: JSON.parse(Buffer.from(message.getData_asU8()).toString("utf8")),
    metadata: JSON.parse(Buffer.from(message.getCustomMetadata_asU8()).toString("utf8")),
  };
}

type Expectation = {
  hasAny(): boolean;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
};

export function expectedRevision(options: Expectation, revision: () => string): ExpectedRevision {
  if (options.hasAny()) return "any";
  if (options.hasNoStream()) return "none";
  if (options.hasStreamExists()) return "exists";
  return Number(revision());
}

const TICKS_PER_MILLISECOND = 10_000n;

export function eventAnswer(event: RecordedEvent): ReadAnswer {
  const position = wirePosition(event.position);
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(identifierOf(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(base64(event.data))
    .setCustomMetadata(base64(event.metadata));
  const metadata = recorded.getMetadataMap();
  metadata.set("type", event.type);
  metadata.set("content-type", "application/json");
  metadata.set("created", String(BigInt(Date.parse(event.recordedAt)) * TICKS_PER_MILLISECOND));
  const answer = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position);
  return new streams.ReadResp().setEvent(answer);
}

export function checkpointAnswer(position: string): ReadAnswer {
  const offset = wirePosition(position);
  const checkpoint = new streams.ReadResp.Checkpoint().setCommitPosition(offset).setPreparePosition(offset);
  return new streams.ReadResp().setCheckpoint(checkpoint);
}

export function prefixesOf(options: ReadRequest.Options): readonly string[] {
  return options.getFilter()?.getStreamIdentifier()?.getPrefixList() ?? [""];
}

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}
