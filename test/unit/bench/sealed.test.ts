// What belongs to a round of the redirect benchmark: the seals of its clicks, too.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { untilSealed } from "../../../bench/measure/sealed.ts";
import { newestSeal } from "../../../src/audit/seals/newest-seal.ts";
import { BLOCK_EVENTS } from "../../../src/audit/seals/seal.ts";
import { sealKeysOf } from "../../../src/audit/seals/seal-keys.ts";
import { Sealer } from "../../../src/audit/seals/sealer.ts";
import { SEALS_STREAM } from "../../../src/events/streams.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const PAGE = 1_000;

let stores: Stores;

beforeEach(async () => {
  stores = await openStores();
});
afterEach(() => stores.close());

describe("a round that waits for seals", () => {
  it("ends when every block of its clicks is sealed", async () => {
    await appendClicks(2 * BLOCK_EVENTS);
    const sealing = seal();
    await untilSealed(stores);
    expect(await stores.eventStore.read(SEALS_STREAM, { limit: 10 })).toHaveLength(2);
    await sealing;
  });

  it("ends with fewer clicks than a seal needs", async () => {
    await appendClicks(PAGE);
    await untilSealed(stores);
    expect(await stores.eventStore.read(SEALS_STREAM, { limit: 10 })).toEqual([]);
  });
});

async function appendClicks(count: number): Promise<void> {
  for (let written = 0; written < count; written += PAGE)
    await append(
      stores.eventStore,
      "clicks-a-20260301",
      Array.from({ length: PAGE }, () => linkClicked()),
    );
}

async function seal(): Promise<void> {
  const { eventStore, readStore } = stores;
  const sealer = await Sealer.open({
    eventStore,
    keys: [sealKeysOf("a secret key that is long enough to be one")],
    newest: newestSeal(readStore),
    clock: () => new Date(),
    newId: randomUUID,
  });
  while (await sealer.read());
}
