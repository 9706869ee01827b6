// The double's Read: streams, the whole log, and filtered subscriptions to it.
import { once } from "node:events";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { deletedStream, type Misbehave, type Script, type SubscriptionFault, statusOf } from "./faults.ts";
import { type DoubleLog, type Stored, TOMBSTONE } from "./log.ts";
import type { ReadAnswer, ReadOptions, ReadRequest } from "./protocol.ts";
import { loginOf } from "./users.ts";

type Call = ServerWritableStream<ReadRequest, ReadAnswer>;

/**
 * The part of the log that one page or subscription looked through, matching or not: events from `from`, before `to`, by
 * their numbers. `handedOut`: those that the server took for matching. `reader`: a name of each client, or the
 * `connectionName` of its connection string. `isOpen`: a subscription that looks on, also after its reader has left, until the
 * server hears of it.
 */
export type Look = {
  reader: string;
  filter: string;
  from: number;
  to: number;
  handedOut: number;
  isOpen: boolean;
};

/** Events that were looked through in all. */
export function lookedThrough(looks: readonly Look[]): number {
  return looks.reduce((sum, { from, to }) => sum + to - from, 0);
}

type ReadDeps = {
  log: DoubleLog;
  looks: Look[];
  script: Script;
  misbehave: Misbehave;
  mayReadLog: (user: string) => boolean;
  cut: () => void;
};

export function readCall({ log, looks, script, misbehave, mayReadLog, cut }: ReadDeps) {
  return async (call: Call): Promise<void> => {
    const options = call.request.options;
    if (!options) return;
    call.on("error", () => {});
    if (!options.stream && !mayReadLog(loginOf(call.metadata).user))
      return fail(call, statusOf(ACCESS_DENIED));
    const look = (from: number): Look => {
      const reader = String(call.metadata.get("connection-name")[0]);
      const filter = JSON.stringify(options.filter?.eventType ?? options.filter?.streamIdentifier ?? {});
      const begun = { reader, filter, from, to: from, handedOut: 0, isOpen: false };
      looks.push(begun);
      return begun;
    };
    if (options.subscription) {
      const fault = script.take("subscribe");
      try {
        const { position } = options.all ?? {};
        const looking = look(position ? log.indexAfter(Number(position.commitPosition)) : 0);
        looking.isOpen = true;
        await subscription(call, options, log, looking, fault, cut).finally(() => {
          looking.isOpen = false;
        });
      } catch (error) {
        fail(call, error as object);
      }
      return;
    }
    await misbehave(
      "read",
      async () => (options.stream ? streamEvents(log, options) : logEvents(log, options, look)),
      async (error, answers) => {
        const stream = nameOf(options);
        if (error) return fail(call, error);
        if (log.isTombstoned(stream)) return fail(call, statusOf(deletedStream(stream)));
        for (const answer of answers ?? []) await write(call, answer);
        call.end();
      },
    );
  };
}

const ACCESS_DENIED = { code: 7, details: "Access Denied", metadata: { exception: "access-denied" } };

function streamEvents(log: DoubleLog, { stream, readDirection, count }: ReadOptions): ReadAnswer[] {
  const streamIdentifier = stream?.streamIdentifier ?? {};
  const events = log.stream(streamIdentifier.streamName?.toString() ?? "");
  if (!events) return [{ streamNotFound: { streamIdentifier } }];
  const isBackwards = readDirection === "Backwards";
  const from = Number(stream?.revision ?? (isBackwards ? Number.POSITIVE_INFINITY : 0));
  const part = isBackwards
    ? events.filter(({ revision }) => revision <= from).reverse()
    : events.filter(({ revision }) => revision >= from);
  return part.slice(0, Number(count)).map(eventAnswer);
}

function nameOf({ stream }: ReadOptions): string {
  return stream?.streamIdentifier?.streamName?.toString() ?? "";
}

/** Inclusive, as on the real server; backwards only from the end, as the adapter reads nothing else backwards. */
function logEvents(
  log: DoubleLog,
  { all, readDirection, count }: ReadOptions,
  look: (from: number) => Look,
): ReadAnswer[] {
  const limit = Number(count);
  const isBackwards = readDirection === "Backwards";
  const offset = Number(all?.position?.commitPosition ?? 0);
  const from = isBackwards ? log.events.length - limit : Math.max(0, log.indexAfter(offset) - 1);
  const events = log.events.slice(from, from + limit);
  Object.assign(look(from), { to: from + events.length, handedOut: events.length });
  return (isBackwards ? events.reverse() : events).map(eventAnswer);
}

/** Exclusive, unlike a read. */
async function subscription(
  call: Call,
  { filter }: ReadOptions,
  log: DoubleLog,
  looking: Look,
  fault: SubscriptionFault | undefined,
  cut: () => void,
): Promise<void> {
  const window = filter?.max ?? 32;
  let next = looking.from;
  const closed = Promise.race(["cancelled", "close"].map((end) => once(call, end).catch(() => undefined)));
  let isOpen = true;
  const closing = closed.then(() => {
    isOpen = false;
  });
  await write(call, { confirmation: { subscriptionId: "double" } });
  if (fault?.kind === "early-checkpoints")
    for (let time = 0; time < 3; time++) await write(call, checkpointAnswer(log.events.at(-1)));
  let [sent, caughtUp] = [0, false];
  while (isOpen) {
    for (let event = log.events[next]; event && isOpen; event = log.events[next]) {
      if (isSelected(filter, event)) {
        if (fault && sent >= fault.after && happened(fault, call, cut)) return;
        await write(call, eventAnswer(event));
        if (fault?.kind === "repeat") await write(call, eventAnswer(event));
        sent += 1;
        looking.handedOut = sent;
      }
      next += 1;
      looking.to = next;
      if (next % window === 0) await write(call, checkpointAnswer(event));
    }
    if (fault && sent >= fault.after && happened(fault, call, cut)) return;
    if (!caughtUp) await write(call, { caughtUp: {} });
    caughtUp = true;
    await Promise.race([log.grown(), closing]);
  }
}

function isSelected(filter: ReadOptions["filter"], { stream, type }: Stored): boolean {
  const { prefix, regex } = filter?.eventType ?? filter?.streamIdentifier ?? {};
  const name = filter?.eventType ? type : stream;
  return regex ? new RegExp(regex).test(name) : (prefix ?? [""]).some((start) => name.startsWith(start));
}

/** True when the subscription is over, or dead without saying so. */
function happened(fault: SubscriptionFault, call: Call, cut: () => void): boolean {
  if (fault.kind === "end") call.end();
  else if (fault.kind === "cut") cut();
  else if (fault.kind === "status") fail(call, { code: fault.code });
  else return fault.kind === "stuck";
  return true;
}

async function write(call: Call, answer: ReadAnswer): Promise<void> {
  if (call.write(answer) || call.cancelled) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ["drain", "cancelled", "close"]) call.once(event, resolve);
  await promise;
  for (const event of ["drain", "cancelled", "close"]) call.off(event, resolve);
}

function fail(call: Call, error: object): void {
  const invalid = error instanceof RangeError ? { code: 3, details: error.message } : {};
  const thrown = error instanceof Error ? error : Object.assign(new Error("scripted"), error);
  call.emit("error", Object.assign(thrown, invalid));
}

/** The largest number of 63 bits. */
const TOMBSTONE_REVISION = "9223372036854775807";

const TICKS_PER_MILLISECOND = 10_000n;

function eventAnswer({ id, type, contentType, stream, revision, created, ...event }: Stored): ReadAnswer {
  const position = positionOf(event);
  const recorded = {
    ...position,
    id: { string: id },
    streamIdentifier: { streamName: Buffer.from(stream) },
    streamRevision: type === TOMBSTONE ? TOMBSTONE_REVISION : String(revision),
    data: event.data,
    customMetadata: event.metadata,
    metadata: {
      type,
      "content-type": contentType,
      created: String(BigInt(created) * TICKS_PER_MILLISECOND),
    },
  };
  return { event: { event: recorded, commitPosition: position.commitPosition } };
}

function checkpointAnswer(event: Stored | undefined): ReadAnswer {
  return { checkpoint: positionOf(event ?? { offset: 0 }) };
}

function positionOf({ offset }: Pick<Stored, "offset">) {
  return { commitPosition: String(offset), preparePosition: String(offset) };
}
