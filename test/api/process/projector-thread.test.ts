// The projector thread: projects what other connections append, reports its progress, stops on request.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { openBackend } from "../../../src/backend.ts";
import { parseConfig } from "../../../src/config.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { allProjections, clickProjections } from "../../../src/projections/groups.ts";
import { checkpointName } from "../../../src/projections/projection.ts";
import { startProjector } from "../../../src/projections/runner/projector.ts";
import { whenProjected } from "../../../src/queries/freshness.ts";
import type { BasicLogger } from "../../../src/runtime/logging.ts";
import { startDouble } from "../../support/event-store/eventstoredb-double/double.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";

describe("the projector", () => {
  it("projects, reports and stops", async () => {
    const { path: dataDir, remove } = await temporaryFolder();
    const config = parseConfig({ DATA_DIR: dataDir, LOG_LEVEL: "silent" });
    const backend = await openBackend(config, { offThread: false });
    const projector = startProjector(config, pino({ level: "silent" }));
    try {
      await append(backend.eventStore, "link-sho.rt/abc", [linkCreated()]);
      const { position } = await append(backend.eventStore, "clicks-a-20260301", [linkClicked()]);
      const sleep = async (ms: number) => void (await delay(ms));
      const names = clickProjections.map(checkpointName);
      expect(await whenProjected({ ...backend, sleep }, names, position, () => 10_000)).toBe(true);
      expect(await backend.readStore.get(linkClicks.collection.name, "sho.rt/abc")).toMatchObject({
        totalClicks: 1,
      });
      const status = (await projector.status()) ?? [];
      expect(status.map(({ name }) => name)).toEqual(allProjections.map(({ name }) => name));
      expect(status.every(({ waitsFor, setAside }) => waitsFor === null && setAside.count === 0)).toBe(true);
    } finally {
      await projector.stop(5_000);
      await backend.close();
      await remove();
    }
    expect(await projector.status()).toBeUndefined();
  });

  it("says once that it can't report while a store is unavailable", async () => {
    const { path: dataDir, remove } = await temporaryFolder();
    const double = await startDouble();
    const config = { ...parseConfig({ DATA_DIR: dataDir }), eventStoreUrl: double.connectionString };
    const warnings: string[] = [];
    const log = { ...silent(), warn: (_: object, message: string) => void warnings.push(message) };
    const projector = startProjector(config, log as unknown as BasicLogger);
    const answers = async () => (await projector.status())?.length === allProjections.length;
    try {
      await until("a status", answers);
      await double.wire.close();
      const lines = () => warnings.filter((message) => message === "projection status unavailable");
      await until("the line", () => lines().length > 0);
      // Each lets the thread fail once more.
      for (let n = 0; n < 3; n++) await projector.status();
      await double.wire.open();
      await until("a status again", answers);
      expect(lines()).toHaveLength(1);
    } finally {
      await projector.stop(5_000);
      await double.close();
      await remove();
    }
  });

  it("stops right after its start", async () => {
    const { path: dataDir, remove } = await temporaryFolder();
    const projector = startProjector(parseConfig({ DATA_DIR: dataDir }), pino({ level: "silent" }));
    await projector.stop(5_000);
    await remove();
  });

  it("starts its thread again when it dies", async () => {
    const folder = await temporaryFolder();
    const dataDir = join(folder.path, "data");
    await writeFile(dataDir, "a file where the folder should be");
    const deaths: unknown[] = [];
    const log = { ...silent(), error: (fields: { code?: number }) => void deaths.push(fields) };
    const projector = startProjector(parseConfig({ DATA_DIR: dataDir }), log as unknown as BasicLogger);
    try {
      await until("two deaths", () => deaths.length >= 2);
      await rm(dataDir);
      await until(
        "a thread that answers",
        async () => (await projector.status())?.length === allProjections.length,
      );
    } finally {
      await projector.stop(5_000);
      await folder.remove();
    }
  });
});

function silent(): BasicLogger {
  const nothing = () => undefined;
  return { info: nothing, warn: nothing, error: nothing };
}
