// How every export is streamed: a bounded number at a time, with backpressure, aborted when the client stops reading.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Refused } from "../commands/refusals.ts";
import type { TableFormat } from "../queries/log-reader/log-reader.ts";
import { type OpenStreams, type OpenStreamsDeps, openStreams } from "./open-streams.ts";

export const CSV_TYPE = "text/csv; charset=utf-8; header=present";
export const CONTENT_TYPES: Readonly<Record<TableFormat, string>> = {
  csv: CSV_TYPE,
  spreadsheet: CSV_TYPE,
  ndjson: "application/x-ndjson; charset=utf-8",
  parquet: "application/vnd.apache.parquet",
};
/**
 * Few of an account, because each export reads a long part of the log or of its tables; so many of a
 * process that some slow readers block nobody else: one that is read slowly costs little but its page in memory.
 */
const MOST = { ofAccount: 2, inProcess: 100 };
export const MOST_EXPORTS = MOST.ofAccount;
/** A client that reads nothing for this long is disconnected, so that stalled exports don't hold the limited slots. */
const STALLED_MS = 30_000;

export function openExports({ counts, clock }: Omit<OpenStreamsDeps, "kind">): OpenStreams {
  return openStreams({ counts, clock, kind: "exports" }, MOST);
}

/** Pulls `parts` with backpressure: at most one part is read ahead. @throws too_many_streams */
export async function sendExport(
  reply: FastifyReply,
  streams: OpenStreams,
  accountId: string,
  file: { type: string; name: string },
  parts: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>,
): Promise<FastifyReply> {
  const stream = await streams.enter(accountId);
  if (!stream)
    throw new Refused("too_many_streams", "Other exports are being sent: wait until one of them has ended.");
  const read = untilStalled(parts(stream.signal), STALLED_MS, () => reply.raw.destroy());
  const body = Readable.from(read, { signal: stream.signal });
  body.once("close", () => void streams.leave(stream));
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
