// A commit of a backlog or a build: the next documents are folded while the ones before them are written.
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../src/connections/errors.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { checkpointName } from "../../../src/projections/projection.ts";
import { ProjectionRunner } from "../../../src/projections/runner/runner.ts";
import type { ReadStore } from "../../../src/read-store/port.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { committingStore, type OnCommit } from "../../support/projections/committing-store.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const LINKS = 2_000;

describe("a commit of 40,000 events", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores();
    for (let n = 0; n < 40_000; n += LINKS) {
      const clicks = Array.from({ length: LINKS }, (_, link) => linkClicked({ link: `sho.rt/${link}` }));
      await append(stores.eventStore, "clicks-a-20260301", clicks);
    }
  });
  afterEach(async () => await stores.close());

  it("folds the next documents while two transactions are written, and writes the checkpoint after all", async () => {
    const steps: string[] = [];
    const firstWritten = Promise.withResolvers<void>();
    const onCommit: OnCommit = async ({ isMeanwhile }, write) => {
      const isFirst = !steps.includes("write");
      steps.push(isMeanwhile ? "write" : "checkpoint");
      if (isFirst) await firstWritten.promise;
      await write();
      if (isFirst) steps.push("first written");
    };
    const { catchUp, stored } = runnerOver(onCommit, {
      readsAtATime: 500,
      async getMany(collection, ids) {
        steps.push("read");
        if (steps.filter((step) => step === "read").length === 4) firstWritten.resolve();
        return await stores.readStore.getMany(collection, ids);
      },
    });
    await catchUp();
    expect(steps).toEqual([
      ...["read", "read", "write", "read", "write", "read", "first written", "write", "checkpoint"],
    ]);
    expect(await stored()).toBe(LINKS);
  });

  it("writes no checkpoint when documents before it could not be written", async () => {
    let writes = 0;
    const { catchUp } = runnerOver(async (_, write) => {
      writes += 1;
      if (writes === LINKS / 500 - 1) throw new StoreUnavailable("The disk is full");
      await write();
    });
    await expect(catchUp()).rejects.toThrow("The disk is full");
    expect(await stores.readStore.checkpoint(checkpointName(linkClicks))).toBeUndefined();
  });

  function runnerOver(onCommit: OnCommit, more: Partial<ReadStore> = {}) {
    const runner = new ProjectionRunner({
      eventStore: stores.eventStore,
      readStore: committingStore(stores.readStore, onCommit, more),
      projections: [linkClicks],
      log: pino({ level: "silent" }),
    });
    return {
      catchUp: () => runner.catchUp(),
      stored: () => stores.readStore.count(linkClicks.collection.name, {}),
    };
  }
});
