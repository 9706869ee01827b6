// The contract of the event store port, for every adapter; can run against a store that others write to.
import { beforeAll, describe } from "vitest";
import { appendPromises } from "./event-store-append.ts";
import { durabilityPromises } from "./event-store-durability.ts";
import type { EventStoreFixture, Subject } from "./event-store-fixture.ts";
import { readPromises } from "./event-store-read.ts";
import { subscribePromises } from "./event-store-subscribe.ts";

export type { EventStoreFixture };

export function eventStoreContract(name: string, open: () => Promise<EventStoreFixture>): void {
  describe(`event store: ${name}`, () => {
    const subject = subjectOn(open);
    appendPromises(subject);
    readPromises(subject);
    subscribePromises(subject);
    durabilityPromises(subject);
  });
}

/** For the tests of the `describe` in which it is called: the fixture opens before them and closes after them. */
export function subjectOn(open: () => Promise<EventStoreFixture>): Subject {
  let current: EventStoreFixture | undefined;
  let categories = 0;
  beforeAll(async () => {
    const opened = await open();
    current = opened;
    return () => opened.close();
  });
  const fixture = () => {
    if (!current) throw new Error("The fixture isn't open yet");
    return current;
  };
  const newCategory = (name = "thing") => {
    categories += 1;
    return `${fixture().prefix}${name}${categories}`;
  };
  return { fixture, newCategory, newStream: () => `${newCategory()}-a` };
}
