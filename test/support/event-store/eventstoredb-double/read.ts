// The double's Read: streams, the whole log with or without a filter, and subscriptions to it.
import { once } from "node:events";
import type { ServerWritableStream } from "@grpc/grpc-js";
import type { EventStore, RecordedEvent } from "../../../../src/event-store/port.ts";
import { positionText } from "../../../../src/event-store/sqlite/positions.ts";
import type { Misbehave, Script, SubscriptionFault } from "./faults.ts";
import {
  checkpointAnswer,
  eventAnswer,
  identifierOf,
  prefixesOf,
  storePosition,
  streamName,
} from "./messages.ts";
import type { ReadAnswer, ReadOptions, ReadRequest } from "./protocol.ts";

type Call = ServerWritableStream<ReadRequest, ReadAnswer>;

type ReadDeps = {
  store: EventStore;
  script: Script;
  misbehave: Misbehave;
  cut: () => void;
};

export function readCall({ store, script, misbehave, cut }: ReadDeps) {
  return async (call: Call): Promise<void> => {
    const options = call.request.options;
    if (!options) return;
    call.on("error", () => {});
    if (options.subscription) {
      const fault = script.take("subscribe");
      script.openSubscriptions += 1;
      await subscription(call, options, store, fault, cut).catch((error) => fail(call, error));
      script.openSubscriptions -= 1;
      return;
    }
    await misbehave(
      "read",
      () => (options.stream ? streamEvents(store, options) : logEvents(store, options)),
      (error, answers) => {
        if (error) fail(call, error);
        for (const answer of answers ?? []) call.write(answer);
        if (answers) call.end();
      },
    );
  };
}

async function streamEvents(store: EventStore, options: ReadOptions): Promise<ReadAnswer[]> {
  const stream = streamName(options.stream?.streamIdentifier);
  const missing = [{ streamNotFound: { streamIdentifier: identifierOf(stream) } }];
  const limit = Number(options.count);
  const backwards = options.readDirection === "Backwards";
  const revision = options.stream?.revision;
  const from = revision === undefined ? {} : { from: Number(revision) };
  const events = await store.read(stream, { backwards, limit, ...from });
  if (events.length > 0 || (await store.read(stream, { limit: 1 })).length > 0)
    return events.map(eventAnswer);
  return missing;
}

/** Inclusive, as on the real server; backwards only from the end, as the adapter reads nothing else backwards. */
async function logEvents(store: EventStore, options: ReadOptions): Promise<ReadAnswer[]> {
  const limit = Number(options.count);
  if (options.readDirection === "Backwards") {
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

function startOf(options: ReadOptions): string | undefined {
  const position = options.all?.position;
  return position && storePosition(position.commitPosition);
}

async function subscription(
  call: Call,
  options: ReadOptions,
  store: EventStore,
  fault: SubscriptionFault | undefined,
  cut: () => void,
): Promise<void> {
  const after = startOf(options);
  const prefixes = prefixesOf(options);
  const abort = new AbortController();
  call.on("cancelled", () => abort.abort());
  call.on("close", () => abort.abort());
  call.write({ confirmation: { subscriptionId: "double" } });
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
      call.write({ caughtUp: {} });
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

async function write(call: Call, answer: ReadAnswer, signal: AbortSignal): Promise<void> {
  if (call.write(answer) || signal.aborted) return;
  // It takes its listeners away again: one left for each drain made a long subscription slower with every event.
  await once(call, "drain", { signal }).catch(() => undefined);
}

function fail(call: Call, error: unknown): void {
  const invalid = error instanceof RangeError ? { code: 3, details: error.message } : {};
  const thrown = error instanceof Error ? error : Object.assign(new Error("scripted"), error);
  call.emit("error", Object.assign(thrown, invalid));
}
