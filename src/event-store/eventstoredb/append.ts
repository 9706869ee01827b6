// One append to EventStoreDB: cut to the server's size, repeated until its outcome is known, conflicts told apart.
import {
  type AppendResult,
  type ExpectedRevision,
  type NewEvents,
  type RecordedEvent,
  RevisionConflict,
} from "../port.ts";
import type { Driver, Proposed } from "./driver.ts";
import { type Backoff, WrongRevision, withRetries } from "./errors.ts";
import { proposed } from "./events.ts";
import { positionText } from "./positions.ts";
import { within } from "./pull.ts";
import { readStream } from "./read.ts";

export type AppendDeps = { driver: Driver; timeoutMs: number; backoff: Backoff };

/** Servers before 26 refuse an append above 1 MiB; far below it, one append never holds up the others for long. */
const MAX_BYTES = 400 * 1024;
const MAX_EVENTS = 500;

/** Events at the end of a stream that are searched for a lost append; other writers' may have come after it. */
const TAIL = 4096;

/**
 * A batch above 400 KiB or 500 events goes in several appends, cut the same way each time, each at its exact
 * revision: after a failure between two of them, the same batch at the same revision completes it.
 * @throws RangeError for such a batch with `any`, where another writer could come between the parts
 */
export async function append(
  deps: AppendDeps,
  stream: string,
  expected: ExpectedRevision,
  events: NewEvents,
): Promise<AppendResult> {
  const parts = cut(proposed(events));
  if (parts.length > 1 && expected === "any")
    throw new RangeError(
      `An append to ${stream} without a revision can't be larger than 400 KiB or 500 events`,
    );
  let at = expected;
  let result: AppendResult | undefined;
  for (const part of parts) {
    result = await appendPart(deps, stream, at, part);
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
    const bytes = event.message.length;
    if (part && part.length < MAX_EVENTS && bytes <= room) {
      part.push(event);
      room -= bytes;
    } else {
      parts.push([event]);
      room = MAX_BYTES - bytes;
    }
  }
  return parts;
}

/**
 * After an attempt whose outcome is unknown: at an exact revision (or `none`) the server itself recognises the same
 * ids, on disk; otherwise only a small memory cache of it does, so the stream's end is looked at first.
 */
async function appendPart(
  deps: AppendDeps,
  stream: string,
  expected: ExpectedRevision,
  part: readonly Proposed[],
): Promise<AppendResult> {
  return withRetries(deps.backoff, async (attempt) => {
    if (attempt > 1 && expected === "any") {
      const earlier = await findInTail(deps, stream, part);
      if (earlier) return earlier;
    }
    try {
      return await appendOnce(deps, stream, expected, part);
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      throw new RevisionConflict(stream, expected, error.actual);
    }
  });
}

async function appendOnce(
  { driver, timeoutMs }: AppendDeps,
  stream: string,
  expected: ExpectedRevision,
  part: readonly Proposed[],
): Promise<AppendResult> {
  const call = driver.append({ stream, expected, events: part, timeoutMs });
  // The call's own deadline doesn't cover the search for a cluster's leader before it.
  const { revision, position } = await within(timeoutMs + 250, `an append to ${stream}`, call);
  if (position) return { revision, position: positionText(position) };
  // A server that recognises an append that it committed before doesn't always answer its position.
  const [last] = await readStream(driver, stream, { from: revision, limit: 1 }, timeoutMs);
  if (!last) throw new Error(`EventStoreDB confirmed an append to ${stream} without its position`);
  return { revision, position: last.position };
}

/** Where an earlier attempt without a revision appended the events, if it did. */
async function findInTail(
  { driver, timeoutMs }: AppendDeps,
  stream: string,
  part: readonly Proposed[],
): Promise<AppendResult | undefined> {
  const limit = part.length + TAIL;
  const tail = (await readStream(driver, stream, { backwards: true, limit }, timeoutMs)).reverse();
  const first = tail.findIndex((event) => event.id === part[0]?.id);
  const there = first < 0 ? [] : tail.slice(first, first + part.length);
  const last = there.at(-1);
  return last && sameIds(there, part) ? { revision: last.revision, position: last.position } : undefined;
}

function sameIds(there: readonly RecordedEvent[], part: readonly Proposed[]): boolean {
  return there.length === part.length && part.every(({ id }, index) => there[index]?.id === id);
}
