// The double's Read: streams, the whole log with or without a filter, and subscriptions to it.
import type { ReadReq, ReadResp } from "@eventstore/db-client/generated/streams_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerWritableStream } from "@grpc/grpc-js";
import type { EventStore, RecordedEvent } from "../../../../src/event-store/port.ts";
import { positionText } from "../../../../src/event-store/sqlite/rows.ts";
import type { Misbehave, Script, SubscriptionFault } from "./faults.ts";
import {
  checkpointAnswer,
  eventAnswer,
  identifierOf,
  prefixesOf,
  storePosition,
  streamName,
} from "./messages.ts";

type Call = ServerWritableStream<ReadReq, ReadResp>;

type ReadDeps = {
  store: EventStore;
  script: Script;
  misbehave: Misbehave;
  deleted: ReadonlySet<string>;
  cut: () => void;
};

export function readCall({ store, script, misbehave, deleted, cut }: ReadDeps) {
  return async (call: Call): Promise<void> => {
    const options = call.request.getOptions();
    if (!options) return;
    call.on("error", () => {});
    if (options.hasSubscription()) {
      const fault = script.take("subscribe");
      script.openSubscriptions += 1;
      await subscription(call, options, store, fault, cut).catch((error) => fail(call, error));
      script.openSubscriptions -= 1;
      return;
    }
    await misbehave(
      "read",
      () => (options.hasStream() ? streamEvents(store, options, deleted) : logEvents(store, options)),
      (error, answers) => {
        if (error) fail(call, error);
        for (const answer of answers ?? []) call.write(answer);
        if (answers) call.end();
      },
    );
  };
}

async function streamEvents(
  store: EventStore,
  options: ReadReq.Options,
  deleted: ReadonlySet<string>,
): Promise<ReadResp[]> {
  const stream = streamName(options.getStream()?.getStreamIdentifier());
  const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream));
  const missing = [new streams.ReadResp().setStreamNotFound(notFound)];
  if (deleted.has(stream)) return missing;
  const limit = Number(options.getCount());
  const backwards = options.getReadDirection() === 1;
  const from = options.getStream()?.hasRevision() ? Number(options.getStream()?.getRevision()) : undefined;
  const events = await store.read(stream, { backwards, limit, ...(from === undefined ? {} : { from }) });
  if (events.length > 0 || (await store.read(stream, { limit: 1 })).length > 0)
    return events.map(eventAnswer);
  return missing;
}

/** Inclusive, as on the real server; backwards only from the end, which is all the adapter asks for. */
async function logEvents(store: EventStore, options: ReadReq.Options): Promise<ReadResp[]> {
  const limit = Number(options.getCount());
  if (options.getReadDirection() === 1) {
    // Positions of the store behind are without a gap, so the end of a long log is found without reading it all.
    const behind = Number((await store.head()) ?? 0) - limit;
    const after = behind > 0 ? positionText(behind) : undefined;
    const last = await store.readAll({ after, prefixes: [""], limit });
    return last.reverse().map(eventAnswer);
  }
  const before = startOf(options);
  const after = before && String(BigInt(before) - 1n).padStart(20, "0");
  const prefixes = prefixesOf(options);
  return (await store.readAll({ after, prefixes, limit })).map(eventAnswer);
}

function startOf(options: ReadReq.Options): string | undefined {
  const position = options.getAll()?.getPosition();
  return position && storePosition(position.getCommitPosition());
}

async function subscription(
  call: Call,
  options: ReadReq.Options,
  store: EventStore,
  fault: SubscriptionFault | undefined,
  cut: () => void,
): Promise<void> {
  const after = startOf(options);
  const prefixes = prefixesOf(options);
  const abort = new AbortController();
  call.on("cancelled", () => abort.abort());
  call.on("close", () => abort.abort());
  const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId("double");
  call.write(new streams.ReadResp().setConfirmation(confirmation));
  const end = await store.head();
  if (fault?.kind === "early-checkpoints" && end)
    for (let time = 0; time < 3; time++) call.write(checkpointAnswer(end));
  let caughtUp = false;
  let sent = 0;
  const events = store.subscribe({ after, prefixes, signal: abort.signal, batchSize: 32 });
  for await (const batch of events) {
    for (const event of batch) {
      if (fault && sent >= fault.after && happened(fault, call, cut)) return;
      await write(call, eventAnswer(event), abort.signal);
      if (fault?.kind === "repeat") await write(call, eventAnswer(event), abort.signal);
      sent += 1;
    }
    await write(call, checkpointAnswer((batch.at(-1) as RecordedEvent).position), abort.signal);
    if (!caughtUp && (batch.at(-1)?.position ?? "") >= (end ?? "")) {
      caughtUp = true;
      call.write(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
    }
    if (fault && sent >= fault.after && happened(fault, call, cut)) return;
  }
}

/** True when the subscription is over, or dead without saying so. */
function happened(fault: SubscriptionFault, call: Call, cut: () => void): boolean {
  if (fault.kind === "end") call.end();
  else if (fault.kind === "cut") cut();
  else if (fault.kind === "status") fail(call, Object.assign(new Error("scripted"), { code: fault.code }));
  else return fault.kind === "stuck";
  return true;
}

async function write(call: Call, answer: ReadResp, signal: AbortSignal): Promise<void> {
  if (call.write(answer) || signal.aborted) return;
  await new Promise<void>((resolve) => {
    call.once("drain", () => resolve());
    signal.addEventListener("abort", () => resolve());
  });
}

function fail(call: Call, error: unknown): void {
  const invalid = error instanceof RangeError ? { code: 3, details: error.message } : {};
  const thrown = error instanceof Error ? error : Object.assign(new Error("scripted"), error);
  call.emit("error", Object.assign(thrown, invalid));
}
