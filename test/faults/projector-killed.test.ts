// Projectors killed at random under load: whichever one continues, every click is counted once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { ProjectionNotBuilt } from "../../src/projections/builds/errors.ts";
import { clickHours } from "../../src/projections/definitions/click-hours.ts";
import { clickTables } from "../../src/projections/definitions/click-tables/chunk.ts";
import { type LinkTotalsDocument, linkTotals } from "../../src/projections/definitions/link-totals.ts";
import { openDays } from "../../src/projections/definitions/summaries/open-days.ts";
import { clicks as clickGroup } from "../../src/projections/groups.ts";
import { type Backend, openBackend } from "../../src/service/stores/backend.ts";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import type { CollectionSpec } from "../../src/stores/read-store/port.ts";
import { type OwnServers, onOwnServers, ownServers } from "../support/cluster/own-servers.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { type KillableProjector, killableProjector } from "../support/projections/killable-projector.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import type { Environment } from "../support/service/service-process.ts";

const CLICKS = effort(10_000, 50_000);
const KILLS = effort(4, 20);
const LINKS = 25;
const AN_APPEND = 250;
const PATIENT_MS = 900_000;
/** Far longer than a busy machine takes. */
const HANGS_AFTER_MS = 300_000;

onOwnServers(() => {
  describe("projectors that are killed", () => {
    let folder: TemporaryFolder;
    let servers: OwnServers;
    let environment: Environment;
    let backend: Backend;
    let connection: MongodbConnection;
    let projector: KillableProjector;
    let appended = 0;
    let last = "";

    beforeAll(async () => {
      folder = await temporaryFolder();
      servers = await ownServers();
      environment = { ...servers.environment, DATA_DIR: folder.path };
      projector = killableProjector(environment);
      backend = await openBackend(parseConfig(environment));
      await backend.prepare();
      connection = new MongodbConnection(environment.MONGODB_URL ?? "");
    }, PATIENT_MS);
    afterAll(async () => {
      await projector?.kill();
      await connection?.close();
      await backend?.close();
      await servers?.stop();
      await folder?.remove();
    }, PATIENT_MS);

    /** Short, because test/servers/processes.test.ts already measures the takeover after a crash. */
    const forgetLeases = () => connection.run((db) => db.collection("leases").deleteMany({}));
    const appendClicks = async (count: number) => {
      for (const upTo = appended + count; appended < upTo; ) {
        const clicks = Array.from({ length: AN_APPEND }, (_, n) =>
          linkClicked({ link: `sho.rt/l${(appended + n) % LINKS}` }),
        );
        const { position } = await append(backend.eventStore, "clicks-a-20260301", clicks);
        appended += AN_APPEND;
        last = position;
      }
    };
    const folded = async () => (await backend.foldStore.checkpoint(clickGroup.name))?.position ?? "";
    /** None while the first projector has not registered the builds yet. */
    const documentsOf = ({ name }: CollectionSpec) =>
      backend.readStore.find(name, { limit: 1_000 }).catch((error: unknown) => {
        if (error instanceof ProjectionNotBuilt) return [];
        throw error;
      });

    /** By each commit, in this order. */
    const written = [openDays, clickTables, linkTotals, clickHours];

    it(
      `have every one of ${CLICKS} clicks in the totals once after ${KILLS} kills`,
      async () => {
        let whileFolding = 0;
        for (let kills = 0; kills < KILLS; kills++) {
          const before = last;
          projector.start();
          await appendClicks(CLICKS / KILLS);
          // While the first collection is written, the second, and so on; the checkpoints come last.
          const collection = written[kills % written.length] as CollectionSpec;
          const hasBegun = async () =>
            (await documentsOf(collection)).some(({ _position }) => _position > before);
          await until("the projector to be at work", hasBegun, { withinMs: HANGS_AFTER_MS, everyMs: 2 });
          await projector.kill();
          await forgetLeases();
          if ((await folded()) < last) whileFolding += 1;
        }
        projector.start();
        await until("all to be folded", async () => (await folded()) >= last, { withinMs: HANGS_AFTER_MS });

        const { name } = linkTotals;
        const totals = await backend.readStore.find<LinkTotalsDocument>(name, { limit: LINKS + 1 });
        const counted = totals.reduce((sum, { totalClicks }) => sum + totalClicks, 0);
        printCounts("projector killed", { kills: KILLS, whileFolding, clicks: appended, counted });
        expect(whileFolding).toBeGreaterThan(0);
        expect([appended, counted]).toEqual([CLICKS, CLICKS]);
        expect(new Set(totals.map(({ totalClicks, click }) => `${totalClicks} ${click}`))).toEqual(
          new Set([`${CLICKS / LINKS} ${CLICKS / LINKS}`]),
        );
        for (const { name } of written) {
          const documents = await backend.readStore.find(name, { limit: 1_000 });
          expect(documents.length).toBeGreaterThan(0);
        }
      },
      PATIENT_MS,
    );
  });
});
