// The double's Append and BatchAppend: one call for each append, or many appends on one stream of messages.
import { setImmediate as nextTurn } from "node:timers/promises";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import status from "@eventstore/db-client/generated/status_pb.js";
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerDuplexStream, ServerReadableStream, sendUnaryData } from "@grpc/grpc-js";
import protobufAny from "google-protobuf/google/protobuf/any_pb.js";
import protobufEmpty from "google-protobuf/google/protobuf/empty_pb.js";
import { type EventStore, RevisionConflict } from "../../../../src/event-store/port.ts";
import type { Misbehave } from "./faults.ts";
import { expectedRevision, newEvent, streamName, wirePosition } from "./messages.ts";

export function appendCall(store: EventStore, misbehave: Misbehave) {
  return async (
    call: ServerReadableStream<AppendReq, AppendResp>,
    answer: sendUnaryData<AppendResp>,
  ): Promise<void> => {
    const messages: AppendReq[] = [];
    call.on("error", () => {});
    try {
      for await (const message of call) messages.push(message);
    } catch {
      // The client gave up, or its connection was lost, before the request was complete.
      return;
    }
    // A lost connection may also end the messages like a complete request; the real server fails such an append.
    await nextTurn();
    if (call.cancelled) return;
    const options = messages[0]?.getOptions();
    if (!options) return;
    const events = messages.slice(1).map((message) => newEvent(message.getProposedMessage() as never));
    const expected = expectedRevision(options, () => options.getRevision());
    await misbehave(
      "append",
      () => store.append(streamName(options.getStreamIdentifier()), expected, events).then(taken, conflict),
      answer,
    );
  };
}

function taken({ revision, position }: { revision: number; position: string }): AppendResp {
  const offset = wirePosition(position);
  const success = new streams.AppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(new streams.AppendResp.Position().setCommitPosition(offset).setPreparePosition(offset));
  return new streams.AppendResp().setSuccess(success);
}

function conflict(error: unknown): AppendResp {
  if (!(error instanceof RevisionConflict)) throw error;
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (error.actual === "none") wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(error.actual));
  if (typeof error.expected === "number") wrong.setExpectedRevision(String(error.expected));
  else if (error.expected === "none") wrong.setExpectedNoStream(new shared.Empty());
  else if (error.expected === "exists") wrong.setExpectedStreamExists(new shared.Empty());
  else wrong.setExpectedAny(new shared.Empty());
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
}

/** Serves the plain client's default way to append; the adapter doesn't use it. */
export function batchAppendCall(store: EventStore, misbehave: Misbehave) {
  return (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
    const open = new Map<string, BatchAppendReq[]>();
    call.on("error", () => {});
    call.on("end", () => call.end());
    call.on("data", (request: BatchAppendReq) => {
      const id = request.getCorrelationId()?.getString() ?? "";
      const requests = [...(open.get(id) ?? []), request];
      open.set(id, requests);
      if (!request.getIsFinal()) return;
      open.delete(id);
      const options = requests[0]?.getOptions();
      if (!options) return;
      const events = requests.flatMap((one) => one.getProposedMessagesList()).map(newEvent);
      const expected = expectedRevision(options, () => options.getStreamPosition());
      const stream = streamName(options.getStreamIdentifier());
      void misbehave(
        "append",
        async () => {
          const answer = await store.append(stream, expected, events).then(batchTaken, batchConflict);
          return answer
            .setCorrelationId(request.getCorrelationId())
            .setStreamIdentifier(options.getStreamIdentifier());
        },
        (error, answer) => {
          if (answer) call.write(answer);
          else if (error) call.emit("error", error);
        },
      );
    });
  };
}

function batchTaken({ revision, position }: { revision: number; position: string }): BatchAppendResp {
  const offset = wirePosition(position);
  const success = new streams.BatchAppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(new shared.AllStreamPosition().setCommitPosition(offset).setPreparePosition(offset));
  return new streams.BatchAppendResp().setSuccess(success);
}

function batchConflict(error: unknown): BatchAppendResp {
  if (!(error instanceof RevisionConflict)) throw error;
  const wrong = new shared.WrongExpectedVersion();
  if (error.actual === "none") wrong.setCurrentNoStream(new protobufEmpty.Empty());
  else wrong.setCurrentStreamRevision(String(error.actual));
  const details = new protobufAny.Any();
  details.pack(wrong.serializeBinary(), "event_store.client.WrongExpectedVersion");
  return new streams.BatchAppendResp().setError(
    new status.Status().setMessage("WrongExpectedVersion").setDetails(details),
  );
}
