// Streams exports: a bounded number at a time, with backpressure, aborted when the client stops reading.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { type AccountStreams, accountStreams } from "../../api/streaming/account-streams.ts";
import { Refused } from "../../runtime/refused.ts";

/** Few, because each export reads the log since its link was created or its account opened. */
const MOST_OF_ACCOUNT = 2;
const MOST_IN_ALL = 8;
/** A client that reads nothing for this long is disconnected, so that stalled exports don't hold the limited slots. */
const STALLED_MS = 30_000;

export function exportStreams(): AccountStreams {
  return accountStreams(MOST_OF_ACCOUNT, MOST_IN_ALL);
}

/** Pulls `parts` with backpressure: at most one part is read ahead. @throws too_many_streams */
export function sendExport(
  reply: FastifyReply,
  streams: AccountStreams,
  accountId: string,
  file: { type: string; name: string },
  parts: (signal: AbortSignal) => AsyncIterable<string>,
): FastifyReply {
  const stream = streams.enter(accountId);
  if (!stream)
    throw new Refused("too_many_streams", "Other exports are being sent: wait until one of them has ended.");
  const read = untilStalled(parts(stream.signal), STALLED_MS, () => reply.raw.destroy());
  const body = Readable.from(read, { signal: stream.signal });
  body.once("close", () => streams.leave(accountId, stream));
  return reply
    .type(file.type)
    .header("cache-control", "no-store")
    .header("content-disposition", `attachment; filename="${file.name}"`)
    .send(body);
}

/** Calls `onStalled` when the consumer does not request the next part within `stalledMs`. */
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
