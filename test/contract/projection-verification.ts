// The contract of `projections verify` on every read store: what differs from the log is named, nothing else is.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { queriedBuild } from "../../src/projections/builds/build.ts";
import { readBuilds } from "../../src/projections/builds/builds-document.ts";
import { accountDays } from "../../src/projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../src/projections/definitions/days/link-day.ts";
import type { LinkClicksDocument } from "../../src/projections/definitions/link-clicks.ts";
import { allProjections } from "../../src/projections/groups.ts";
import { type Projection, partsCollection } from "../../src/projections/projection.ts";
import { verifyProjections } from "../../src/projections/verify/verify-projections.ts";
import type { Document, ReadStore } from "../../src/stores/read-store/port.ts";
import { openSqliteReadStore } from "../../src/stores/read-store/sqlite/read-store.ts";
import { ACCOUNT, linkClicked } from "../support/event-store/stored-events.ts";
import {
  type BuildsFixture,
  CLICKS,
  happenings,
  LINK,
  programOn,
  projectionsOfNext,
  totalsOfNext,
  totalsOfNow,
} from "../support/projections/builds-of.ts";
import { storeWith } from "../support/runtime/store-with.ts";
import { append } from "../support/runtime/stores.ts";

const accountDaysOfNow = accountDays as unknown as Projection;

export function projectionVerificationContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`verification of projections: ${name}`, () => {
    let stores: BuildsFixture;
    let scratch: ReadStore;
    let program: ReturnType<typeof programOn>;
    beforeEach(async () => {
      stores = await open();
      scratch = await openSqliteReadStore("");
      program = programOn(stores);
      await program.register();
      await happenings(stores.eventStore);
      await program.catchUp();
    });
    afterEach(async () => {
      await scratch.close();
      await stores.cleanUp();
    });

    const random = () => 0.5;
    const verify = (projections: readonly Projection[] = allProjections, options = {}, own = {}) =>
      verifyProjections({ ...program.deps, ...own, random, scratch }, projections, options);
    const click = () => append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
    const tamper = async (projection: Projection, change: (documents: Document[]) => Document[]) => {
      const build = queriedBuild(projection, await readBuilds(stores.readStore)) ?? projection;
      const documents = await program.documents(projection);
      await stores.readStore.drop(build.collection.name);
      await stores.readStore.replace(build.collection.name, change(documents));
    };

    it("finds every document equal to what the log gives", async () => {
      const found = await verify();
      expect(found).toMatchObject({ ok: true, events: 820, differences: [], sums: [], unverified: [] });
      for (const projection of allProjections) {
        const { length } = await program.documentsAndParts(projection);
        expect(found.projections).toContainEqual(
          expect.objectContaining({ name: projection.name, documents: length, differences: 0 }),
        );
      }
    });

    it("names the fields that differ, documents that are missing, and those that should not exist", async () => {
      await tamper(totalsOfNow, (documents) => {
        const [first, second, ...others] = documents.toSorted((a, b) => (a._id < b._id ? -1 : 1));
        const { _id: id, _position } = first as Document;
        return [{ _id: id, ...first, totalClicks: 999 } as Document, ...others, strayOf(second, _position)];
      });
      const { ok, differences } = await verify();
      expect(ok).toBe(false);
      expect(differences).toMatchObject([
        {
          ...{ projection: "link-clicks", id: "sho.rt/l0", problem: "different" },
          fields: expect.arrayContaining([{ field: "totalClicks", stored: "999", folded: "40" }]),
        },
        { id: "sho.rt/l1", problem: "missing", fields: [] },
        { id: "sho.rt/stray", problem: "unexpected", fields: [] },
      ]);
    });

    it("names the parts of documents that differ, or are missing", async () => {
      const collection = partsCollection(totalsOfNow.collection.name);
      const parts = await stores.readStore.find<LinkDayDocument>(collection, { limit: 1_000 });
      const tampered = parts
        .filter(({ _id }) => _id !== "sho.rt/l1@2026-03-02")
        .map((part) => (part._id === `${LINK}@2026-03-01` ? { ...part, quarters: [] } : part));
      await stores.readStore.drop(collection);
      await stores.readStore.replace(collection, tampered);
      const { differences } = await verify();
      expect(differences).toMatchObject([
        { projection: "link-clicks", id: `${LINK}@2026-03-01`, problem: "different" },
        { id: "sho.rt/l1@2026-03-02", problem: "missing" },
      ]);
      expect(differences[0]?.fields[0]?.field).toBe("quarters[0]");
    });

    it("compares documents that change meanwhile as of the position at which they were read", async () => {
      let isRunning = true;
      const readStore = storeWith(stores.readStore, {
        async getMany<D extends Document>(collection: string, ids: readonly string[]) {
          if (isRunning) {
            isRunning = false;
            // Late, of a day that is over; and the first of a new day.
            for (let n = 0; n < 3; n++) await click();
            await append(stores.eventStore, CLICKS, [linkClicked({ link: "sho.rt/new" })]);
            await append(stores.eventStore, CLICKS, [
              linkClicked({ link: LINK, at: "2026-03-09T10:00:00.000Z" }),
              linkClicked({ link: LINK, at: "2026-03-05T10:00:00.000Z" }),
            ]);
            await program.catchUp();
            await click();
          }
          return await stores.readStore.getMany<D>(collection, ids);
        },
      });
      const found = await verify(allProjections, {}, { readStore });
      expect(isRunning).toBe(false);
      expect(found).toMatchObject({ ok: true, events: 820, differences: [] });
      // The link that came meanwhile is compared, too.
      const { length } = await program.documentsAndParts(totalsOfNow);
      expect(found.projections.find((one) => one.name === "link-clicks")).toMatchObject({
        documents: length,
      });
    });

    it("names breakdowns that don't add up, and days that lack clicks of an account's links", async () => {
      const forgetful: Projection = {
        ...totalsOfNow,
        evolve(document, event, ...rest) {
          const next = totalsOfNow.evolve(document, event, ...rest) as unknown as LinkClicksDocument;
          if (event.type !== "LinkClicked" || event.data.link !== LINK) return next as unknown as Document;
          next.totalClicks += 1;
          next.click += 1;
          return next as unknown as Document;
        },
      };
      const { ok, sums } = await verify([forgetful, accountDaysOfNow]);
      expect(ok).toBe(false);
      expect(sums).toContainEqual({ what: "days of sho.rt/l0", sum: 40, total: 80 });
      expect(sums).toContainEqual({ what: "breakdowns of sho.rt/l0", sum: 40, total: 80 });
      expect(sums).toContainEqual({ what: `days of ${ACCOUNT}`, sum: 800, total: 840 });
    });

    it("is not ok where nothing could be compared, as before the first build", async () => {
      const unbuilt = await openSqliteReadStore("");
      await programOn({ ...stores, readStore: unbuilt }).register();
      const found = await verify(allProjections, {}, { readStore: unbuilt });
      expect(found).toMatchObject({ ok: false, projections: [], differences: [] });
      expect(found.unverified).toHaveLength(allProjections.length);
      await unbuilt.close();
    });

    it("leaves out, with the reason, what another version of the program has folded", async () => {
      const { ok, projections, unverified } = await verify(projectionsOfNext);
      expect(ok).toBe(true);
      expect(projections).toHaveLength(allProjections.length - 1);
      expect(unverified).toEqual([
        {
          name: "link-clicks",
          reason: `answered by version ${totalsOfNow.version}, and this program folds version ${totalsOfNext.version}`,
        },
      ]);
    });
  });
}

function strayOf(document: Document | undefined, position: string): Document {
  return { ...document, _id: "sho.rt/stray", _position: position };
}
