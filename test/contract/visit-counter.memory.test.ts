// The visit counter's contract within one process, and through the calls by which workers ask their primary.
import { memoryVisitCounter } from "../../src/redirect/visits/visit-counter.memory.ts";
import { type Channel, ipcCalls } from "../../src/service/workers/ipc-calls.ts";
import { visitCounterOfPrimary } from "../../src/service/workers/worker-group.ts";
import { visitCounterContract } from "./visit-counter.ts";

const close = async () => undefined;

visitCounterContract("in process", async (keptMs) => {
  const counter = memoryVisitCounter(keptMs);
  return { counter, others: counter, close };
});

visitCounterContract("in the primary of workers", async (keptMs) => {
  const { count } = memoryVisitCounter(keptMs);
  const newWorker = () => {
    const [ofWorker, ofPrimary] = channel();
    ipcCalls(ofPrimary, { countVisit: count });
    return visitCounterOfPrimary(ipcCalls(ofWorker, {}));
  };
  return { counter: newWorker(), others: newWorker(), close };
});

/** Both ends of one that carries JSON, as between processes. */
function channel(): [Channel, Channel] {
  const receivers: Parameters<Channel["onMessage"]>[0][] = [() => undefined, () => undefined];
  const end = (own: 0 | 1): Channel => ({
    send: (message) => queueMicrotask(() => receivers[1 - own]?.(JSON.parse(JSON.stringify(message)))),
    onMessage(receive) {
      receivers[own] = receive;
    },
  });
  return [end(0), end(1)];
}
