// One append to EventStoreDB: cut to the server's size, repeated until its outcome is known, conflicts told apart.
import { type EventStoreDBClient, NO_STREAM, WrongExpectedVersionError } from "@eventstore/db-client";
import { inTime } from "../../../runtime/pause.ts";
import {
  type AppendResult,
  type ExpectedRevision,
  type NewEvent,
  RevisionConflict,
  StreamRemoved,
} from "../port.ts";
import { type Deps, NoAnswer, withRetries } from "./errors.ts";
import { type Proposed, positionText, proposed, recorded } from "./events.ts";
import { readStream } from "./read.ts";

/** Servers before 26 refuse an append above 1 MiB; far below it, one append never holds up the others for long. */
const MAX_BYTES = 400 * 1024;
const MAX_EVENTS = 500;

/**
 * Events above 400 KiB or 500 go in several appends, cut the same way each time, each at its exact revision: after a
 * failure between two of them a reader sees the first ones alone, and the same append again completes it.
 */
export async function append(
  deps: Deps,
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): Promise<AppendResult> {
  let at = expected;
  let result: AppendResult | undefined;
  for (const part of cut(events.map(proposed))) {
    // At an exact revision the server recognises the same ids, on disk, which settles any unknown outcome.
    result = await withRetries(deps, { may: "write", stream }, (client) =>
      appendOnce(deps, client, stream, at, part),
    );
    at = result.revision;
  }
  if (!result) throw new RangeError(`An append to ${stream} needs at least one event`);
  return result;
}

function cut(events: readonly Proposed[]): Proposed[][] {
  const parts: Proposed[][] = [];
  let room = 0;
  for (const event of events) {
    const part = parts.at(-1);
    const hasRoom = part && part.length < MAX_EVENTS && event.bytes <= room;
    if (hasRoom) part.push(event);
    else parts.push([event]);
    room = (hasRoom ? room : MAX_BYTES) - event.bytes;
  }
  return parts;
}

/** Has ended when it returns or throws: the same append beside an earlier attempt would fail with a timeout. */
async function appendOnce(
  { servers: { credentials }, timeoutMs }: Deps,
  client: EventStoreDBClient,
  stream: string,
  expected: ExpectedRevision,
  part: readonly Proposed[],
): Promise<AppendResult> {
  const isNew = expected === "none" || expected < 0;
  const events = part.map(({ event }) => event);
  try {
    // The call ends at its deadline; should the client ever lose it, it is given up a second later.
    const call = client.appendToStream(stream, events, {
      expectedRevision: isNew ? NO_STREAM : BigInt(expected),
      credentials,
      requiresLeader: true,
      deadline: timeoutMs,
    });
    const appended = await inTime(timeoutMs + 1_000, call);
    if (!appended) throw new NoAnswer(timeoutMs + 1_000);
    const revision = Number(appended.nextExpectedRevision);
    // Of a stream that was deleted the server takes the next revision for that of a new one.
    if (isNew && revision !== events.length - 1)
      throw new StreamRemoved(stream, `it was deleted on the server, and goes on at revision ${revision}`);
    if (appended.position) return { revision, position: positionText(appended.position) };
    // A server that recognises an append that it committed before doesn't always answer its position.
    const [last] =
      (await readStream(client, stream, { from: revision, limit: 1 }, timeoutMs, recorded)) ?? [];
    if (!last) throw new NoAnswer(timeoutMs);
    return { revision, position: last.position };
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
    const { actualVersion } = error;
    throw new RevisionConflict(
      stream,
      expected,
      typeof actualVersion === "bigint" ? Number(actualVersion) : "none",
    );
  }
}
