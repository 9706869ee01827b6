// `npm run bench create`: links a second over the API, one a request and a hundred a request.

import { allLinksCounted, secondsToCatchUp } from "./measure/counted.ts";
import { measureRounds, ROUNDS_HEAD, roundsRow } from "./measure/rounds.ts";
import type { Options } from "./options.ts";
import { printTable, whole } from "./report.ts";
import { type Prepared, withService } from "./setup/bench-service.ts";
import { seedKeys } from "./setup/seed.ts";

const BULK = 100;
/** Requests of both kinds at most, which bounds the keys that are needed: with too few, the last are refused. */
const MOST_PER_SECOND = 12_000;

/** Passes when every link that was answered is in the log and in the documents exactly once. */
export async function benchCreate({ quick, ...options }: Options): Promise<boolean> {
  const { seconds = quick ? 1 : 5 } = options;
  const rounds = quick ? 1 : 2;
  const keys: string[] = [];
  const requests = (1 + rounds) * seconds * MOST_PER_SECOND;
  const seed = async ({ backend, config }: Prepared) =>
    void keys.push(...(await seedKeys(backend, config.keyPrefix, requests)));
  return await withService({ links: 1, seed }, async ({ backend, service, pid, load }) => {
    const server = { url: service.url, pid, settle: () => secondsToCatchUp(backend) };
    const loading = { expect: 201, seconds, rounds };
    const single = await measureRounds(load, server, { ...loading, traffic: { kind: "creations", keys } });
    const bulk = await measureRounds(load, server, {
      ...loading,
      traffic: { kind: "creations", keys, bulk: BULK },
    });
    printTable([
      ROUNDS_HEAD,
      roundsRow("one link a request", single.median),
      roundsRow(`${BULK} links a request`, bulk.median),
    ]);
    console.log(`${whole(single.median.rate)} links/s, and ${whole(bulk.median.rate * BULK)} in bulk`);
    const sum = (runs: typeof single.runs) => runs.reduce((all, { answered }) => all + answered, 0);
    const created = 1 + sum(single.runs) + sum(bulk.runs) * BULK;
    return await allLinksCounted(backend, created, [...single.runs, ...bulk.runs]);
  });
}
