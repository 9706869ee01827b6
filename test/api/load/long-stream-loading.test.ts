// Event loop delay while a stream is loaded that is longer than the limits of today.
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { loadAccount } from "../../../src/commands/account/accounts.ts";
import { currentLink } from "../../../src/commands/links/link-stream.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import type { EventStore } from "../../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { accountStream, linkStream } from "../../../src/events/streams.ts";
import { linkHistory } from "../../../src/queries/links/link-history.ts";
import { collectGarbage } from "../../support/runtime/collect-garbage.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const EVENTS = 20_000;
const accountId = runtimeDeps.newId();
const at = "2026-01-01T00:00:00.000Z";
const of = { host: "localhost", slug: "abc", accountId, at };

describe("a stream of 20,000 events", { timeout: 120_000 }, () => {
  let eventStore: EventStore;
  beforeAll(async () => {
    const folder = await temporaryFolder();
    eventStore = await openSqliteEventStore(`${folder.path}/events.db`, { offThread: true });
    await fill(eventStore, accountStream(accountId), accountEvent);
    await fill(eventStore, linkStream("localhost", "abc"), linkEvent);
    return async () => {
      await eventStore.close();
      await folder.remove();
    };
  }, 120_000);

  it.each([
    [
      "an account is loaded",
      async () => {
        const account = await loadAccount(eventStore, accountId);
        expect(account).toMatchObject({ status: "open", activeKeys: 1, events: EVENTS });
      },
    ],
    [
      "a link is loaded",
      async () => {
        const link = await currentLink(eventStore, "localhost", "abc");
        expect(link).toMatchObject({ status: "disabled", changes: EVENTS - 1 });
      },
    ],
    [
      "a link's history is shown",
      async () => {
        const { history } = await linkHistory({ eventStore }, accountId, "localhost", "abc");
        expect(history).toHaveLength(EVENTS);
      },
    ],
  ] as const)("never holds the thread for a tenth of the time it takes when %s", async (_, load) => {
    await load();
    // Else what the events of before have left would be collected in one of the turns.
    collectGarbage();
    const { longest, total } = await turnsDuring(load);
    expect(longest / total).toBeLessThan(0.1);
  });
});

/** CPU milliseconds of this thread during `work`: the longest turn of the event loop, and the total. */
async function turnsDuring(work: () => Promise<void>): Promise<{ longest: number; total: number }> {
  let [longest, total] = [0, 0];
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const before = process.threadCpuUsage();
    await nextTurn();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    total += (user + system) / 1000;
  }
  await done;
  return { longest, total };
}

/** Rows of single appends, as commands write them, some per transaction. */
async function fill(
  eventStore: EventStore,
  stream: string,
  eventOf: (revision: number) => LinkledgerEvent,
): Promise<void> {
  const ATOMIC = 10;
  const origin = { correlationId: "test", causationId: "test", actor: { type: "operator" } } as const;
  const appends = [];
  for (let revision = 0; revision < EVENTS; revision += ATOMIC) {
    const events = Array.from({ length: ATOMIC }, (_, n) =>
      newEvent(eventOf(revision + n), runtimeDeps.newId(), origin),
    );
    appends.push(eventStore.append(stream, revision === 0 ? "none" : revision - 1, events));
  }
  await Promise.all(appends);
}

function accountEvent(revision: number): LinkledgerEvent {
  if (revision === 0) return { type: "AccountOpened", data: { accountId, tier: "free", at } };
  const keyId = `22222222-2222-4222-8222-${String(Math.ceil(revision / 2)).padStart(12, "0")}`;
  if (revision % 2 === 0) return { type: "KeyDeactivated", data: { accountId, keyId, at } };
  return {
    type: "KeyIssued",
    data: { accountId, keyId, keyHash: "0".repeat(64), hint: "abcd", label: "", at },
  };
}

function linkEvent(revision: number): LinkledgerEvent {
  const made = { longUrl: "https://example.com/", shortUrl: "http://localhost/abc" };
  if (revision === 0) return { type: "LinkCreated", data: { ...of, ...made, via: "api", custom: false } };
  return { type: revision % 2 ? "LinkDisabled" : "LinkEnabled", data: of };
}
