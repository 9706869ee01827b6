// `npm run bench rebuild`: `projections rebuild` of a large log.
import { openBackend } from "../../src/backend.ts";
import { parseConfig } from "../../src/config.ts";
import type { Position } from "../../src/event-store/port.ts";
import { instanceOf, startService } from "../../test/support/service/service-process.ts";
import { untilCaughtUp } from "../measure/caught-up.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { profiling } from "../setup/profiling.ts";
import { seedClicks } from "../setup/seed-clicks.ts";
import { seedLinks } from "../setup/seed-links.ts";
import { drawOf, randomNumbers } from "../traffic/draw.ts";
import { differing, documentDigests } from "./documents.ts";
import { runRebuild } from "./run-rebuild.ts";

/** Passes when the rebuilt documents equal the live ones, which is compared with --quick only: folding live takes long. */
export async function benchRebuild(options: Options, report: Report): Promise<Outcome> {
  return await withDataFolder((dataDir) => run(options, dataDir, report));
}

async function run(options: Options, dataDir: string, report: Report): Promise<Outcome> {
  const { events = 560_000, links = 100_000, draw = "even", quick } = options;
  const instance = await instanceOf(dataDir);
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  try {
    const seeding = performance.now();
    const accountId = await seedLinks(backend, config.baseUrl, links);
    const link = drawOf(draw, links, randomNumbers(1));
    await seedClicks(backend, { baseUrl: config.baseUrl, accountId, clicks: events - links, link });
    report.line(
      `${whole(events)} events, ${whole(links)} links (${draw}), seeded in ${seconds(performance.now() - seeding)}`,
    );
    const seeded = (await backend.eventStore.head()) ?? "";
    const live = quick ? await foldLive(seeded) : undefined;
    const rebuild = await runRebuild({ ...instance, ...profiling(options.profile) });
    const eventsPerSecond = rebuild.events / rebuild.seconds;
    report.table([
      ["", "events", "s", "events/s", "µs of CPU an event", "most MB"],
      [
        "projections rebuild",
        ...[whole(rebuild.events), rebuild.seconds.toFixed(1), whole(eventsPerSecond), cpuOf(rebuild)],
        whole(rebuild.peakMb),
      ],
    ]);
    const different = live ? differing(live, await documentDigests(backend, seeded)) : undefined;
    if (different)
      report.line(different.length === 0 ? "rebuilt equals live" : `REBUILT DIFFERS: ${different}`);
    const passed = rebuild.events >= events && (different?.length ?? 0) === 0;
    return {
      passed,
      measured: { rebuild, eventsPerSecond, different },
    };
  } finally {
    await backend.close();
  }

  /** The documents that a service folds. */
  async function foldLive(upTo: Position) {
    const service = await startService(instance);
    try {
      await untilCaughtUp(backend);
    } finally {
      await service.stop();
    }
    return await documentDigests(backend, upTo);
  }
}

function cpuOf({ cpuSeconds, events }: { cpuSeconds: number; events: number }): string {
  return ((cpuSeconds * 1e6) / events).toFixed(1);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
