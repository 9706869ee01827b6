// A process killed while a thread of its own writes the documents of a long commit: each click is counted once afterwards.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Backend, openBackend } from "../../src/backend.ts";
import { parseConfig } from "../../src/config.ts";
import { type LinkClicksDocument, linkClicks } from "../../src/projections/definitions/link-clicks.ts";
import { clickProjections } from "../../src/projections/groups.ts";
import { checkpointName } from "../../src/projections/projection.ts";
import { whenProjected } from "../../src/queries/freshness.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { type KillableProjector, killableProjector } from "../support/projections/killable-projector.ts";
import { effort } from "../support/runtime/effort.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";

/** Two long commits, each of ten transactions and the one with the checkpoint. */
const CLICKS = effort(40_000, 120_000);
const LINKS = 5_000;
const AN_APPEND = 1_000;
/** Documents of the first commit that are written when the process is killed. */
const KILLED_AT = [500, 2_500, 4_500, 1_500, 3_500].slice(0, effort(2, 5));
const PATIENT_MS = 300_000;
const HANGS_AFTER_MS = 60_000;

let folder: TemporaryFolder;
let backend: Backend;
let projector: KillableProjector;
let last = "";

beforeAll(async () => {
  folder = await temporaryFolder();
  projector = killableProjector({ DATA_DIR: folder.path });
  backend = await openBackend(parseConfig({ DATA_DIR: folder.path }), { offThread: false });
  for (let first = 0; first < CLICKS; first += AN_APPEND) {
    const clicks = Array.from({ length: AN_APPEND }, (_, n) =>
      linkClicked({ link: `sho.rt/l${(first + n) % LINKS}` }),
    );
    last = (await append(backend.eventStore, "clicks-a-20260301", clicks)).position;
  }
}, PATIENT_MS);
afterAll(async () => {
  await projector?.kill();
  await backend?.close();
  await folder?.remove();
});

it(
  "counts every click once after a kill at any transaction of a long commit",
  async () => {
    const { name } = linkClicks.collection;
    let duringFirst = 0;
    for (const documents of KILLED_AT) {
      projector.start();
      const isThere = async () => (await backend.readStore.count(name, {})) >= documents;
      await until(`${documents} documents to be written`, isThere, { withinMs: HANGS_AFTER_MS, everyMs: 2 });
      await projector.kill();
      if (!(await backend.readStore.checkpoint(checkpointName(linkClicks)))) duringFirst += 1;
    }
    expect(duringFirst).toBeGreaterThan(0);
    projector.start();
    const names = clickProjections.map(checkpointName);
    expect(await whenProjected({ ...backend, sleep }, names, last, () => HANGS_AFTER_MS)).toBe(true);
    const totals = await backend.readStore.find<LinkClicksDocument>(name, { limit: LINKS + 1 });
    expect(totals.length).toBe(LINKS);
    expect(new Set(totals.map(({ totalClicks }) => totalClicks))).toEqual(new Set([CLICKS / LINKS]));
  },
  PATIENT_MS,
);
