// The part of `npm run bench floor` that creates links: one by one beside a bare Fastify POST, and a hundred a request.
import { measureSide, startBaseline } from "../compare/side.ts";
import type { Load } from "../load/load.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { startFloor } from "./floor-process.ts";
import { measureRounds } from "./rounds.ts";

const BULK = 100;

/** `passed`: every request was answered, and every link of theirs is in the log and in the index. */
export async function measureCreates(
  load: Load,
  { rounds: amount = 3, seconds = 6 }: Pick<Options, "rounds" | "seconds">,
  report: Report,
) {
  return await withDataFolder(async (folder) => {
    const bare = await startBaseline("baselines/bare-post.ts");
    const creator = await startFloor("floor/links/bare-creator.ts", folder);
    const names = { bare: "bare Fastify POST", service: "bare creator" };
    const sides = { bare, service: creator, names };
    const single = { traffic: { kind: "creations" as const, keys: ["a key"] }, expect: 201, seconds };
    const bulk = { ...single, traffic: { ...single.traffic, bulk: BULK } };
    try {
      const { compared, loads } = await measureRounds(load, sides, { ...single, rounds: amount }, report);
      const inBulk = await measureSide(load, creator, bulk);
      const bulkRate = inBulk.rate * BULK;
      const bulkOfSingle = bulkRate / compared.rate.service;
      report.line(`bulk of ${BULK}: ${whole(bulkRate)} links/s, ${bulkOfSingle.toFixed(1)} x single creates`);
      const singles = loads.reduce((sum, { answered }) => sum + answered, 0);
      const { appended, counted } = await creator.progress();
      const answered = singles + inBulk.answered * BULK;
      const failed = [...loads, inBulk].reduce((sum, { other, errors }) => sum + other + errors, 0);
      report.line(
        `answered ${answered}, otherwise or not at all ${failed}, in the log ${appended}, in the index ${counted}`,
      );
      const passed = failed === 0 && appended === answered && counted === answered;
      return { passed, ...compared, bulkRate, bulkOfSingle };
    } finally {
      await Promise.all([bare.stop(), creator.stop()]);
    }
  });
}
