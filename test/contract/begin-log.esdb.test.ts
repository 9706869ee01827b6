// How a log begins on an event store that others write to, too.
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginLog } from "../../src/commands/begin-log.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { begunEventStore } from "../../src/service/stores/begun-log.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { prefixedEventStore } from "../../src/stores/event-store/prefixed-event-store.ts";
import {
  EVENTSTOREDB,
  type EventStoreDbFixture,
  eventStoreDbFixture,
} from "../support/event-store/eventstoredb-fixture.ts";
import { sampleEvent } from "../support/event-store/sample-events.ts";
import { ACCOUNT, AT } from "../support/event-store/stored-events.ts";
import { append } from "../support/runtime/stores.ts";

let fixture: EventStoreDbFixture;
beforeEach(async () => {
  fixture = await eventStoreDbFixture();
});
afterEach(() => fixture.close());

const own = (name: string) => prefixedEventStore(fixture.store, `${fixture.prefix}${name}_`);
const begin = (name: string) => beginLog({ ...runtimeDeps, eventStore: own(name) });

it(`a log on ${EVENTSTOREDB} is read from behind what was there before it began`, async () => {
  await fixture.store.append(`${fixture.prefix}others-1`, "none", [sampleEvent()]);
  const head = await fixture.store.head();
  const beginning = await begin("a");
  expect(beginning.after).toBe(head);
  const asked: unknown[] = [];
  const store = own("a");
  const readAll: typeof store.readAll = (options) => {
    asked.push(options.after);
    return store.readAll(options);
  };
  const log = begunEventStore({ ...store, readAll }, async () => beginning);
  const categories = ["log"];
  expect(await log.readAll({ after: START, categories, limit: 9 })).toMatchObject({
    events: [{ type: "LogBegun" }],
  });
  expect(asked).toEqual([head]);
});

it("one that has events of ours and no beginning is read from the start of the store", async () => {
  await append(own("b"), `account-${ACCOUNT}`, [
    { type: "AccountOpened", data: { accountId: ACCOUNT, at: AT, tier: "free" } },
  ]);
  expect((await begin("b")).after).toBe(START);
});

it("none begins where another program's streams would be taken for ours, and it says how to choose", async () => {
  await own("c").append("account-42", "none", [sampleEvent()]);
  await expect(begin("c")).rejects.toMatchObject({
    code: "streams_of_others",
    message: expect.stringMatching(/such as account-42: set EVENTSTORE_PREFIX to/),
  });
});
