// The double's Append: one call for each append.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ServerDuplexStream, ServerReadableStream, sendUnaryData } from "@grpc/grpc-js";
import { type AppendResult, type EventStore, RevisionConflict } from "../../../../src/event-store/port.ts";
import type { Misbehave } from "./faults.ts";
import { expectedRevision, newEvent, streamName, wirePosition } from "./messages.ts";
import type { AppendAnswer, AppendRequest, BatchAppendAnswer, BatchAppendRequest } from "./protocol.ts";

export function appendCall(store: EventStore, misbehave: Misbehave) {
  return async (
    call: ServerReadableStream<AppendRequest, AppendAnswer>,
    answer: sendUnaryData<AppendAnswer>,
  ): Promise<void> => {
    const messages: AppendRequest[] = [];
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
    const options = messages[0]?.options;
    if (!options) return;
    const events = messages.slice(1).map(({ proposedMessage = {} }) => newEvent(proposedMessage));
    const stream = streamName(options.streamIdentifier);
    await misbehave(
      "append",
      () => store.append(stream, expectedRevision(options), events).then(committed, conflict),
      answer,
    );
  };
}

/** All of an append in one message; several on one call are not taken apart, as ours sends one. */
export function batchAppendCall(store: EventStore, misbehave: Misbehave) {
  return (call: ServerDuplexStream<BatchAppendRequest, BatchAppendAnswer>): void => {
    call.on("error", () => {});
    call.on("data", ({ correlationId, options = {}, proposedMessages = [] }: BatchAppendRequest) => {
      const { streamPosition, ...expected } = options;
      const revision = expectedRevision(
        streamPosition ? { ...expected, revision: streamPosition } : expected,
      );
      const append = () =>
        store.append(streamName(options.streamIdentifier), revision, proposedMessages.map(newEvent));
      void misbehave(
        "append",
        () => append().then(committed, conflict),
        (error, answer) => {
          if (error) return void call.emit("error", Object.assign(new Error("scripted"), error));
          if (!answer) return;
          const refusal = { error: { code: 9, message: "WrongExpectedVersion" } };
          call.write({
            ...(correlationId && { correlationId }),
            ...("success" in answer ? answer : refusal),
          });
          // The real server ends a call that the client has ended only if it saw that before its last answer.
        },
      );
    });
  };
}

function committed({ revision, position }: AppendResult): AppendAnswer {
  return { success: { currentRevision: String(revision), position: wirePosition(position) } };
}

function conflict(error: unknown): AppendAnswer {
  if (!(error instanceof RevisionConflict)) throw error;
  const { actual, expected } = error;
  const current = actual === "none" ? { currentNoStream: {} } : { currentRevision: String(actual) };
  const words = { none: "expectedNoStream", exists: "expectedStreamExists", any: "expectedAny" };
  const wanted =
    typeof expected === "number" ? { expectedRevision: String(expected) } : { [words[expected]]: {} };
  return { wrongExpectedVersion: { ...current, ...wanted } };
}
