// `npm run bench baselines`: what this machine does without our code, beside which everything else is measured.
import { measureSide, startBaseline } from "../compare/side.ts";
import { startLoad } from "../load/load.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { LINKS } from "../traffic/requests.ts";
import { measureAppends, measureThreadCalls } from "./appends.ts";
import { type Floor, measureDocuments } from "./documents.ts";

const VISITS = { traffic: { kind: "visits" as const, links: LINKS, draw: "zipf" as const }, expect: 301 };
const CREATIONS = { traffic: { kind: "creations" as const, keys: ["none"] }, expect: 201 };
const SERVERS = [
  { what: "a 301 of node:http", file: "baselines/bare-http.ts", ...VISITS },
  { what: "a 301 of Fastify", file: "baselines/bare-fastify.ts", ...VISITS },
  { what: "a JSON POST to Fastify", file: "baselines/bare-post.ts", ...CREATIONS },
] as const;

/** The plain scan of a log, which needs one, is part of `npm run bench rebuild`; all of a redirect together, of `floor`. */
export async function benchBaselines({ seconds = 5 }: Options, report: Report): Promise<Outcome> {
  const load = startLoad();
  const floors: Floor[] = [];
  try {
    for (const { what, file, traffic, expect } of SERVERS) {
      const server = await startBaseline(file);
      await measureSide(load, server, { traffic, expect, seconds: 1 });
      const { rate, cpu } = await measureSide(load, server, { traffic, expect, seconds });
      floors.push({ what, perSecond: rate, cpuMicros: cpu.all });
      await server.stop();
    }
  } finally {
    await load.stop();
  }
  floors.push(...(await withDataFolder(async (folder) => measureDocuments(folder, seconds * 10_000))));
  floors.push(...(await withDataFolder(async (folder) => measureAppends(folder, seconds))));
  floors.push(await measureThreadCalls());
  const rows = floors.map(({ what, perSecond, cpuMicros }) => [what, whole(perSecond), cpuMicros.toFixed(1)]);
  report.table([["", "/s", "µs of CPU"], ...rows]);
  return { passed: true, measured: { floors } };
}
