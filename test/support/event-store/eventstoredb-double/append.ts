// The double's Append: one call for each append.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ServerReadableStream, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { deletedStream, type Misbehave, statusOf } from "./faults.ts";
import type { DoubleLog, Proposed, Stored } from "./log.ts";
import type {
  AppendAnswer,
  AppendRequest,
  DeleteAnswer,
  DeleteRequest,
  ProposedMessage,
} from "./protocol.ts";

/** What the real server takes before version 26. */
const MAX_BYTES = 1024 * 1024;

export function appendCall(log: DoubleLog, misbehave: Misbehave) {
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
    const options = messages[0]?.options ?? {};
    const stream = options.streamIdentifier?.streamName?.toString() ?? "";
    const exactly = options.noStream ? -1 : Number(options.revision);
    const expected = options.any ? log.lastRevision(stream) : exactly;
    const events = messages.slice(1).map(({ proposedMessage = {} }) => proposed(proposedMessage));
    const bytes = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
    if (bytes > MAX_BYTES) return void answer(statusOf(TOO_LARGE) as never);
    if (log.isTombstoned(stream)) return void answer(statusOf(deletedStream(stream)) as never);
    await misbehave("append", async () => appended(log, stream, expected, events), answer);
  };
}

const TOO_LARGE = {
  code: 3,
  details: "Maximum Append Size of 1048576 Exceeded.",
  metadata: { exception: "maximum-append-size-exceeded", "maximum-append-size": String(MAX_BYTES) },
};

function appended(log: DoubleLog, stream: string, expected: number, events: Proposed[]): AppendAnswer {
  const last = log.append(stream, expected, events);
  if (last) {
    const position = { commitPosition: String(last.offset), preparePosition: String(last.offset) };
    return { success: { currentRevision: String(last.revision), position } };
  }
  const actual = log.lastRevision(stream);
  const current = actual < 0 ? { currentNoStream: {} } : { currentRevision: String(actual) };
  const wanted = expected < 0 ? { expectedNoStream: {} } : { expectedRevision: String(expected) };
  return { wrongExpectedVersion: { ...current, ...wanted } };
}

/** Deletes a stream, for good or not. */
export function deleteCall(work: (stream: string) => Stored) {
  return (
    { request }: ServerUnaryCall<DeleteRequest, DeleteAnswer>,
    answer: sendUnaryData<DeleteAnswer>,
  ): void => {
    const offset = String(work(request.options?.streamIdentifier?.streamName?.toString() ?? "").offset);
    answer(null, { position: { commitPosition: offset, preparePosition: offset } });
  };
}

function proposed({ id, metadata, data, customMetadata }: ProposedMessage): Proposed {
  return {
    id: id?.string ?? "",
    type: metadata?.type ?? "",
    contentType: metadata?.["content-type"] ?? "",
    data: data ?? Buffer.alloc(0),
    metadata: customMetadata ?? Buffer.alloc(0),
  };
}
