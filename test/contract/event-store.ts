// The contract of the event store port, for every adapter; can run against a store that others write to.
import { beforeAll, describe } from "vitest";
import { appendPromises } from "./event-store-append.ts";
import { durabilityPromises } from "./event-store-durability.ts";
import type { EventStoreFixture } from "./event-store-fixture.ts";
import { readPromises } from "./event-store-read.ts";
import { subscribePromises } from "./event-store-subscribe.ts";

export type { EventStoreFixture };

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
