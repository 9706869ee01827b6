// The check of the benchmarks that everything that was answered is there once.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reckonLinks } from "../../../bench/measure/reckon.ts";
import { lifecycleProjections } from "../../../src/projections/groups.ts";
import { linkCreated } from "../../support/event-store/stored-events.ts";
import { programOn } from "../../support/projections/builds-of.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const RUN = { answered: 1, other: 0, errors: 0, seconds: 1, rate: 1, p50: 1, p99: 1 };
const report = { line: () => undefined, table: () => undefined };

let stores: Stores;

beforeEach(async () => {
  stores = await openStores();
  for (const slug of ["a", "b"])
    await append(stores.eventStore, `link-sho.rt/${slug}`, [linkCreated({ slug })]);
});
afterEach(() => stores.close());

describe("the check of created links", () => {
  it("passes when each is in the log and in the documents", async () => {
    await fold();
    expect(await reckonLinks(stores, 2, [RUN], report)).toMatchObject({
      passed: true,
      inLog: 2,
      inDocuments: 2,
    });
  });

  it("fails when the documents lack some", async () => {
    expect(await reckonLinks(stores, 2, [RUN], report)).toMatchObject({ passed: false, inDocuments: 0 });
  });

  it("fails when one was answered, and is not in the log", async () => {
    await fold();
    expect(await reckonLinks(stores, 3, [RUN], report)).toMatchObject({ passed: false });
  });

  it.each([{ other: 1 }, { errors: 1 }])("fails when a request of any run had %j", async (fault) => {
    await fold();
    expect(await reckonLinks(stores, 2, [{ ...RUN, ...fault }, RUN], report)).toMatchObject({
      passed: false,
    });
  });
});

async function fold(): Promise<void> {
  await programOn({ ...stores, cleanUp: stores.close }, lifecycleProjections).catchUp();
}
