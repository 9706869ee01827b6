// The promises of the event store port, kept by every adapter; may run against a store that others write to.
import type { ChildProcess } from "node:child_process";
import { beforeAll, describe } from "vitest";
import type { EventStore } from "../../src/event-store/port.ts";
import { appendPromises } from "./event-store-append.ts";
import { durabilityPromises } from "./event-store-durability.ts";
import { readPromises } from "./event-store-read.ts";
import { subscribePromises } from "./event-store-subscribe.ts";

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

export function eventStoreContract(name: string, open: () => Promise<EventStoreFixture>): void {
  describe(`event store: ${name}`, () => {
    let current: EventStoreFixture | undefined;
    let streams = 0;
    beforeAll(async () => {
      const opened = await open();
      current = opened;
      return () => opened.close();
    });
    const fixture = () => {
      if (!current) throw new Error("The fixture isn't open yet");
      return current;
    };
    const newStream = (category = "thing-") => {
      streams += 1;
      return `${fixture().prefix}${category}${streams}`;
    };
    const subject = { fixture, newStream };
    appendPromises(subject);
    readPromises(subject);
    subscribePromises(subject);
    durabilityPromises(subject);
  });
}
