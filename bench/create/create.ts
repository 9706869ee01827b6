// `npm run bench create`: POST /api/v1/shorten, and bulk beside single creates; with --links, what so many links cost
// afterwards.
import { eventIndex } from "../../src/projections/definitions/event-index.ts";
import { lifecycleProjections } from "../../src/projections/groups.ts";
import { CONNECTIONS, startLoad } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { reckonLinks } from "../measure/reckon.ts";
import { measureRound, measureRounds, mediansOf, mediansTable, type Server } from "../measure/rounds.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { type BenchService, withService } from "../setup/bench-service.ts";
import { seedCreators } from "../setup/creators.ts";
import { measureManyLinks } from "./many-links.ts";

const BULK = 100;
/** Requests of each kind at most, which bounds the keys that are needed: with too few, the last are refused. */
const MOST_PER_SECOND = 12_000;
const MOST_BULK_PER_SECOND = 1_000;

/**
 * Passes when every link that was answered is in the log and in the documents exactly once. `links`: created in bulk at
 * the end.
 */
export async function benchCreate(options: Options, report: Report): Promise<Outcome> {
  const { rounds = 2, seconds = 5, links = 0 } = options;
  const keys: string[] = [];
  const singles = (1 + rounds) * seconds * MOST_PER_SECOND;
  const requests = singles + seconds * MOST_BULK_PER_SECOND + links / BULK;
  const seed = async ({ backend, config }: Pick<BenchService, "backend" | "config">) =>
    void keys.push(...(await seedCreators(backend, config, requests)));
  return await withService(options, { links: 1, seed }, async (bench) => {
    const { backend, service, pid } = bench;
    const load = startLoad();
    const settle = () => secondsToCatchUp(backend, [...lifecycleProjections, eventIndex]);
    const server: Server = { url: service.url, pid, settle };
    const single = { traffic: { kind: "creations" as const, keys }, expect: 201 };
    const bulk = { traffic: { kind: "creations" as const, keys, bulk: BULK }, expect: 201 };
    try {
      report.line(`${CONNECTIONS} connections, POST /api/v1/shorten`);
      const measured = await measureRounds(load, server, { ...single, seconds, rounds }, report.line);
      const medians = mediansOf(measured.rounds);
      const inBulk = await measureRound(load, server, { ...bulk, seconds });
      report.line("");
      report.table(mediansTable(medians));
      const [bulkRate, ofSingle] = [inBulk.rate * BULK, (inBulk.rate * BULK) / medians.rate];
      report.line(`bulk of ${BULK}: ${whole(bulkRate)} links/s, ${ofSingle.toFixed(1)} x single creates`);
      const singles = [measured.warmUp, ...measured.rounds];
      const answered = singles.reduce((sum, run) => sum + run.answered, 0);
      const many =
        links > 0 ? await measureManyLinks(bench, { load, server, keys, links, report }) : undefined;
      const created = 1 + answered + (inBulk.answered + (many?.requests ?? 0)) * BULK;
      const reckoned = await reckonLinks(backend, created, [...singles, inBulk], report);
      const passed = reckoned.passed && (many?.passed ?? true);
      return { passed, measured: { ...medians, bulkRate, bulkOfSingle: ofSingle, many, reckoned } };
    } finally {
      await load.stop();
    }
  });
}
