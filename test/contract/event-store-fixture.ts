// Fixture of the event store contract, which each adapter provides.
import type { ChildProcess } from "node:child_process";
import type { EventStore } from "../../src/stores/event-store/port.ts";

/** `prefix`: new for every run and without a `-`, such as `t1a2b`; the categories of all streams of a suite start with it. */
export type EventStoreFixture = {
  store: EventStore;
  prefix: string;
  /** A second handle on the same events, as of another process; the suite closes it. */
  openAnother(): Promise<EventStore>;
  /** A process that runs `appendForEver` on the same events. */
  startAppending(stream: string): ChildProcess;
  close(): Promise<void>;
};

/** `newCategory`: one that no other test uses, also beside others on the same server; `newStream`: a stream of one. */
export type Subject = {
  fixture(): EventStoreFixture;
  newCategory(name?: string): string;
  newStream(): string;
};
