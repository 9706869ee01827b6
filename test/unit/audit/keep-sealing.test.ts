// When the log is sealed: after a quiet minute or an hour, and at the stop.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type KeepSealingDeps, keepSealing } from "../../../src/audit/seals/keep-sealing.ts";
import { notedSeal } from "../../../src/audit/seals/noted-seal.ts";
import type { Seal } from "../../../src/audit/seals/seal.ts";
import { sealKeysOf } from "../../../src/audit/seals/seal-keys.ts";
import { SEALS_STREAM } from "../../../src/events/streams.ts";
import { type EventStore, RevisionConflict } from "../../../src/stores/event-store/port.ts";
import { sharedLog } from "../../../src/stores/event-store/shared-log.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { manualTime } from "../../support/runtime/manual-time.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

/** Of the first step, after the thread's more urgent work at its start. */
const FIRST_AT_MS = 5_000;

/** Without pauses, which would not be of simulated time. */
const PACE = { pageEvents: 1_000, mostKept: 10_000, gatherMs: 0 };

let stores: Stores;

beforeEach(async () => {
  stores = await openStores();
});
afterEach(() => stores.close());

it("opens the seals anew, without a pause or a warning, when another process has sealed", async () => {
  const { eventStore } = stores;
  await appendLink(1);
  const time = manualTime();
  const stopping = new AbortController();
  const warnings: string[] = [];
  let appends = 0;
  const raced = storeWith(eventStore, {
    append: async (stream, ...rest) => {
      appends += 1;
      if (appends === 1) throw new RevisionConflict(stream, "none", 0);
      return await eventStore.append(stream, ...rest);
    },
  });
  const log = { info: () => undefined, warn: (_: object, message = "") => void warnings.push(message) };
  const sealing = keepSealing({ ...depsOf(raced), log }, stopping.signal, time);
  await time.until(() => appends === 2);
  stopping.abort();
  await sealing;
  expect(warnings).toEqual([]);
});

it("seals a young log after a minute in which nothing was appended", async () => {
  const { eventStore } = stores;
  await appendLink(1);
  const { time, stop } = sealingOf(eventStore);
  await time.pass(FIRST_AT_MS + 30_000);
  await appendLink(2);
  await time.pass(59_000);
  expect(await sealedEvents()).toEqual([]);
  await time.pass(3_000);
  expect(await sealedEvents()).toEqual([2]);
  await time.pass(7_200_000);
  expect(await sealedEvents()).toEqual([2]);
  await stop();
});

it("seals a few clicks alone after an hour, as a seal is larger than they are; a hundred after a minute", async () => {
  const { time, stop } = sealingOf(stores.eventStore);
  await appendClicks(1);
  await time.pass(FIRST_AT_MS + 3_540_000);
  expect(await sealedEvents()).toEqual([]);
  await time.pass(120_000);
  expect(await sealedEvents()).toEqual([1]);
  await appendClicks(100);
  await time.pass(65_000);
  // With the seal before.
  expect(await sealedEvents()).toEqual([1, 101]);
  await stop();
});

it("seals an hour after the first unsealed event where one comes every half minute", async () => {
  const { time, stop } = sealingOf(stores.eventStore);
  await time.pass(FIRST_AT_MS);
  for (let n = 0; n < 119; n += 1) {
    await appendClicks(1);
    await time.pass(30_000);
  }
  expect(await sealedEvents()).toEqual([]);
  await appendClicks(1);
  await time.pass(35_000);
  expect(await sealedEvents()).toEqual([120]);
  await stop();
});

it("seals what is left when it stops", async () => {
  const { time, stop } = sealingOf(stores.eventStore);
  await time.pass(FIRST_AT_MS + 1_500);
  await appendClicks(4);
  await stop();
  expect(await sealedEvents()).toEqual([4]);
});

it("gives a last seal that can't be made four seconds of the stop", async () => {
  const { eventStore } = stores;
  await appendClicks(1);
  const { time, stop } = sealingOf(
    storeWith(eventStore, { append: () => new Promise<never>(() => undefined) }),
  );
  const started = time.now();
  await stop();
  expect(time.now() - started).toBe(4_000);
});

/** Sealing of the stores' log, in simulated time. */
function sealingOf(eventStore: EventStore) {
  const time = manualTime();
  const stopping = new AbortController();
  let isEnded = false;
  const sealing = keepSealing(depsOf(eventStore), stopping.signal, time).finally(() => {
    isEnded = true;
  });
  const stop = async () => {
    stopping.abort();
    await time.until(() => isEnded, 10_000);
    await sealing;
  };
  return { time, stop };
}

/** Events of each seal. */
async function sealedEvents(): Promise<number[]> {
  const seals = await stores.eventStore.read(SEALS_STREAM);
  return seals.map(({ data }) => (data as Seal).events);
}

function depsOf(eventStore: EventStore): KeepSealingDeps {
  return {
    eventStore: { ...eventStore, ...sharedLog(eventStore, PACE) },
    keys: [sealKeysOf("a secret key that is long enough to be one")],
    noted: notedSeal(stores.readStore),
    clock: () => new Date(),
    newId: randomUUID,
    log: { info: () => undefined, warn: () => undefined },
  };
}

async function appendClicks(count: number): Promise<void> {
  const clicks = Array.from({ length: count }, () => linkClicked());
  await append(stores.eventStore, "clicks-a-20260301", clicks);
}

async function appendLink(n: number): Promise<void> {
  await append(stores.eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}` })]);
}
