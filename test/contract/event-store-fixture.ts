// What an adapter brings to the event store contract, and what the suite's parts get of it.
import type { ChildProcess } from "node:child_process";
import type { EventStore } from "../../src/event-store/port.ts";

/** `prefix` is new for every run, such as `t1a2b-`: the suite's streams all start with it. */
export type EventStoreFixture = {
  store: EventStore;
  prefix: string;
  /** A second handle on the same events, as another process has; the suite closes it. */
  openAnother(): Promise<EventStore>;
  /** A process that runs `appendForEver` on the same events. */
  startAppending(stream: string): ChildProcess;
  close(): Promise<void>;
};

/** `fixture` and a stream name that no other test uses. */
export type Subject = { fixture(): EventStoreFixture; newStream(category?: string): string };
