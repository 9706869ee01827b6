// `npm run bench rebuild`: `projections rebuild` of a large log, in a process of its own.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { runtimeDeps } from "../src/commands/runtime-deps.ts";
import { queriedBuild } from "../src/projections/builds/builds.ts";
import { readBuilds } from "../src/projections/builds/builds-document.ts";
import { clickTables } from "../src/projections/definitions/click-tables/chunk.ts";
import { openDays } from "../src/projections/definitions/summaries/open-days.ts";
import { collectionName } from "../src/projections/fold/build.ts";
import { groupCollections, projectionGroups } from "../src/projections/groups.ts";
import type { Backend } from "../src/service/stores/backend.ts";
import type { Position } from "../src/stores/event-store/port.ts";
import { documentPages } from "../src/stores/read-store/document-pages.ts";
import { foldListed, silent } from "../test/support/projections/fold-groups.ts";
import { childEnvironment } from "../test/support/service/child-environment.ts";
import { endWithThisProcess } from "../test/support/service/end-with-this-process.ts";
import { type Environment, startService } from "../test/support/service/service-process.ts";
import { secondsToCatchUp } from "./measure/counted.ts";
import { cpuSeconds, peakMb } from "./measure/process-usage.ts";
import type { Options } from "./options.ts";
import { printTable, whole } from "./report.ts";
import { type Prepared, withStores } from "./setup/bench-service.ts";
import { seedClicks } from "./setup/seed-clicks.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SAMPLE_EVERY_MS = 100;
const PAGE = 5_000;
const MANY_LINKS = 100_000;

/** Clicks on each link as often, and by Zipf's law. */
const SPREADS = [
  { name: "evenly", isEven: true },
  { name: "by Zipf", isEven: false },
];
/** Days with clicks, of which all but the last are closed. */
const SPAN_MS = 30 * 86_400_000;

/** Passes when the rebuilt documents equal the live ones, which is compared with --quick only: folding live takes long. */
export async function benchRebuild({ quick, ...options }: Options): Promise<boolean> {
  const { events = quick ? 5_000 : 1_000_000, links = quick ? 500 : MANY_LINKS } = options;
  const rows: string[][] = [["", "events", "s", "events/s", "µs of CPU each", "most MB"]];
  let passed = true;
  for (const { name, isEven } of SPREADS)
    passed &&= await withStores({ links }, async (prepared) => {
      const { backend, instance } = prepared;
      await seedClicks(prepared, { clicks: events - links, links, spanMs: SPAN_MS, isEven });
      const seeded = await backend.eventStore.head();
      const live = quick ? await foldedLive(prepared, seeded) : undefined;
      const rebuild = await runRebuild(instance);
      rows.push([
        `rebuild, ${whole(links)} links ${name}`,
        ...[whole(rebuild.events), rebuild.seconds.toFixed(1), whole(rebuild.events / rebuild.seconds)],
        ...[whole((rebuild.cpu * 1e6) / rebuild.events), whole(rebuild.peakMb)],
      ]);
      if (!live) return rebuild.events >= events;
      const rebuilt = await documentDigests(backend, seeded);
      const different = [...live.keys()].filter((name) => live.get(name) !== rebuilt.get(name));
      console.log(different.length === 0 ? "rebuilt equals live" : `REBUILT DIFFERS: ${different}`);
      return different.length === 0;
    });
  printTable(rows);
  return passed;
}

async function foldedLive({ backend, instance }: Prepared, upTo: Position) {
  const service = await startService(instance);
  try {
    await secondsToCatchUp(backend);
  } finally {
    await service.stop();
  }
  // Closes the days that are over, too.
  const deps = { ...runtimeDeps, ...backend, readStore: backend.foldStore, log: silent };
  for (const group of projectionGroups) await foldListed(deps, group);
  return await documentDigests(backend, upTo);
}

/** `seconds`: as the command says, without its start. CPU: of all threads, with the start. */
async function runRebuild(instance: Environment) {
  const child = spawn("bin/linkledger", ["projections", "rebuild", "--json"], {
    cwd: ROOT,
    env: childEnvironment(instance),
    stdio: ["ignore", "pipe", "inherit"],
  });
  endWithThisProcess(child);
  const gone = once(child, "exit");
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  const pid = child.pid ?? 0;
  let most = { peakMb: 0, cpu: 0 };
  const sampling = setInterval(() => {
    const now = { peakMb: peakMb(pid), cpu: cpuSeconds(pid) };
    // NaN once the process has gone.
    if (now.peakMb > 0) most = now;
  }, SAMPLE_EVERY_MS);
  const [code] = await gone.finally(() => clearInterval(sampling));
  if (code !== 0) throw new Error(`projections rebuild ended with ${code}: ${printed}`);
  const { builds, seconds } = JSON.parse(printed) as { builds: { events: number }[]; seconds: number };
  return { events: builds.reduce((sum, { events }) => sum + events, 0), seconds, ...most };
}

/** SHA-256 of each projection's documents, without those of events after `upTo`: a rebuild is itself an event. */
async function documentDigests({ foldStore }: Pick<Backend, "foldStore">, upTo: Position) {
  const digests = new Map<string, string>();
  for (const group of projectionGroups)
    for (const { name } of groupCollections(group)) {
      const build = queriedBuild(group, await readBuilds(foldStore, group));
      // Chunks are cut where commits happened to be.
      if (build && name !== clickTables.name && name !== openDays.name)
        digests.set(name, await digestOf(collectionName(name, build)));
    }
  return digests;

  async function digestOf(collection: string): Promise<string> {
    const hash = createHash("sha256");
    for await (const page of documentPages(foldStore, collection, { limit: PAGE }))
      for (const document of page)
        if (document._position <= upTo) hash.update(`${JSON.stringify(document, sortedMembers)}\n`);
    return hash.digest("hex");
  }
}

function sortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
