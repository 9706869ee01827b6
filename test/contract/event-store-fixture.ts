// Fixture of the event store contract, which each adapter provides.
import type { ChildProcess } from "node:child_process";
import type { EventStore } from "../../src/event-store/port.ts";

/** `prefix`: new for every run, such as `t1a2b-`; all streams of the suite start with it. */
export type EventStoreFixture = {
  store: EventStore;
  prefix: string;
  /** A second handle on the same events, as of another process; the suite closes it. */
  openAnother(): Promise<EventStore>;
  /** A process that runs `appendForEver` on the same events. */
  startAppending(stream: string): ChildProcess;
  close(): Promise<void>;
};

/** `fixture` and a stream name that no other test uses. */
export type Subject = { fixture(): EventStoreFixture; newStream(category?: string): string };
