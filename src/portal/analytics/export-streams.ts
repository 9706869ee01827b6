// Sends an export as it is read: a few at a time, never faster than it is taken, and not for ever to who doesn't take it.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { type AccountStreams, accountStreams, TooManyStreams } from "./account-streams.ts";

/** Each reads the log since its link was made or its account was opened. */
const MOST_OF_ACCOUNT = 2;
const MOST_IN_ALL = 8;
/** A client that has not taken a part of its file for so long has gone, or does it on purpose. */
const STALLED_MS = 30_000;

export type ExportStreams = AccountStreams;

export function exportStreams(): ExportStreams {
  return accountStreams(MOST_OF_ACCOUNT, MOST_IN_ALL);
}

/** `parts` is pulled: besides the one being sent, one waits. @throws TooManyStreams */
export function sendExport(
  reply: FastifyReply,
  streams: ExportStreams,
  accountId: string,
  file: { type: string; name: string },
  parts: (signal: AbortSignal) => AsyncIterable<string>,
): FastifyReply {
  const stream = streams.enter(accountId);
  if (!stream) throw new TooManyStreams("Other exports are being sent: wait until one of them has ended.");
  const taken = untilStalled(parts(stream.signal), STALLED_MS, () => reply.raw.destroy());
  const body = Readable.from(taken, { signal: stream.signal });
  body.once("close", () => streams.leave(accountId, stream));
  return reply
    .type(file.type)
    .header("cache-control", "no-store")
    .header("content-disposition", `attachment; filename="${file.name}"`)
    .send(body);
}

/** Calls `onStalled` when nobody asks for the next part for so long after one was given. */
export async function* untilStalled<T>(
  parts: AsyncIterable<T>,
  stalledMs: number,
  onStalled: () => void,
): AsyncGenerator<T> {
  for await (const part of parts) {
    const timer = setTimeout(onStalled, stalledMs);
    try {
      yield part;
    } finally {
      clearTimeout(timer);
    }
  }
}
