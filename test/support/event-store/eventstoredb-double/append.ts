// The double's Append: one call for each append.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ServerReadableStream, sendUnaryData } from "@grpc/grpc-js";
import { type AppendResult, type EventStore, RevisionConflict } from "../../../../src/event-store/port.ts";
import type { Misbehave } from "./faults.ts";
import { expectedRevision, newEvent, streamName, wirePosition } from "./messages.ts";
import type { AppendAnswer, AppendRequest } from "./protocol.ts";

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
