// The contract of withdrawals on every read store: clicks go from all documents, come back, and a rebuild agrees.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withdrawalStream } from "../../src/events/streams.ts";
import { prepareBuilds, rebuild } from "../../src/projections/builds/finish-builds.ts";
import { accountDays, type DayDocument, hitsOf } from "../../src/projections/definitions/days/days.ts";
import { allProjections, clickProjections } from "../../src/projections/groups.ts";
import type { Projection } from "../../src/projections/projection.ts";
import { topLinks } from "../../src/queries/links/top-links.ts";
import type { Document } from "../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked } from "../support/event-store/stored-events.ts";
import { type BuildsFixture, CLICKS, happenings, LINK, programOn } from "../support/projections/builds-of.ts";
import { clicksRestored, clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { append } from "../support/runtime/stores.ts";

export function withdrawnClicksContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`withdrawn clicks: ${name}`, () => {
    let stores: BuildsFixture;
    let program: ReturnType<typeof programOn>;
    beforeEach(async () => {
      stores = await open();
      program = programOn(stores);
      await happenings(stores.eventStore);
      await program.register();
      // The log of a new EventStoreDB is not empty, so the first builds have to be folded.
      await prepareBuilds(program.deps, allProjections);
    });
    afterEach(() => stores.cleanUp());

    const of = { link: LINK };
    const changed = (event: ReturnType<typeof clicksWithdrawn> | ReturnType<typeof clicksRestored>) =>
      append(stores.eventStore, withdrawalStream(LINK), [event]);
    const click = () => append(stores.eventStore, CLICKS, [linkClicked(of)]);
    const total = async () => (await program.totals())?.totalClicks;
    const documents = async () => {
      const all = await Promise.all(clickProjections.map(program.documentsAndParts));
      return all.map((list) => list.toSorted((a, b) => (a._id < b._id ? -1 : 1)));
    };
    /** Those with clicks. */
    const unpositioned = (lists: Document[][]) =>
      lists.map((list) =>
        list.filter((one) => !("_emptied" in one)).map(({ _position, ...fields }) => fields),
      );
    const accountTotal = async () => {
      const days = (await program.documents(accountDays as unknown as Projection)) as DayDocument[];
      return days.reduce((sum, day) => sum + hitsOf(day), 0);
    };

    it("go from every document of a running projector, and come back", async () => {
      await programOn(stores, clickProjections).projecting(async () => {
        await expect.poll(total).toBe(40);
        await expect.poll(accountTotal).toBe(800);
        await changed(
          clicksWithdrawn(of, 1, { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" }),
        );
        await expect.poll(accountTotal).toBe(792);
        expect(await program.totals()).toMatchObject({ totalClicks: 32 });
        await changed(clicksWithdrawn(of, 2));
        await expect.poll(accountTotal).toBe(760);
        expect(await program.totals()).toMatchObject({ totalClicks: 0, recent: [] });
        expect(await program.breakdowns()).toMatchObject({ countries: [], devices: [] });
        await click();
        await expect.poll(total).toBe(1);
        await changed(clicksWithdrawn(of, 3));
        await expect.poll(total).toBe(0);
        await changed(clicksRestored(of, 2));
        await expect.poll(total).toBe(0);
        await changed(clicksRestored(of, 3));
        await expect.poll(total).toBe(33);
        await changed(clicksRestored(of, 1));
        await expect.poll(total).toBe(41);
      });
    });

    it("are the same in a rebuild, position for position", async () => {
      await program.catchUp();
      await changed(clicksWithdrawn(of, 1, { ipPrefix: "192.0.2.0/24", to: "2026-03-03T00:00:00.000Z" }));
      for (let n = 0; n < 3; n++) await click();
      await program.catchUp();
      await changed(clicksWithdrawn(of, 2, { from: "2026-03-02T00:00:00.000Z" }));
      await program.catchUp();
      await changed(clicksRestored(of, 1));
      await program.catchUp();
      const live = await documents();
      expect(await total()).toBe(11);
      await rebuild(program.deps, allProjections);
      expect(await documents()).toEqual(live);
    });

    it.each([
      { state: "in force", counts: [4, 764] },
      { state: "ended", counts: [45, 805] },
    ])(
      "are those up to the position that was counted to, live as rebuilt ($state)",
      async ({ state, counts }) => {
        await click();
        await program.catchUp();
        const upTo = (await stores.eventStore.head()) ?? "";
        for (let n = 0; n < 3; n++) await click();
        await changed(clicksWithdrawn(of, 1, { upTo }));
        await click();
        await program.catchUp();
        if (state === "ended") await changed(clicksRestored(of, 1));
        await program.catchUp();
        expect([await total(), await accountTotal()]).toEqual(counts);
        const live = await documents();
        await rebuild(program.deps, allProjections);
        expect(await documents()).toEqual(live);
      },
    );

    it("leave the documents that there were when all are restored", async () => {
      await program.catchUp();
      const before = unpositioned(await documents());
      await changed(clicksWithdrawn(of, 1));
      await program.catchUp();
      expect(unpositioned(await documents())).not.toEqual(before);
      const { links } = await topLinks({ readStore: program.queried }, ACCOUNT, { limit: 100 });
      expect(links.map(({ _id }) => _id)).toHaveLength(19);
      expect(links.map(({ _id }) => _id)).not.toContain(LINK);
      await changed(clicksRestored(of, 1));
      await program.catchUp();
      expect(unpositioned(await documents())).toEqual(before);
    });
  });
}
