// What a million links cost: memory after creating them over the API and when idle, the first redirect after a restart, and
// redirects over all of them beside redirects over a thousand.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Load, LoadResult } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { reckon } from "../measure/reckon.ts";
import { residentMb } from "../measure/resident-memory.ts";
import { measureRound, type Server } from "../measure/rounds.ts";
import { type Report, whole } from "../report/report.ts";
import type { BenchService } from "../setup/bench-service.ts";
import type { Traffic } from "../traffic/requests.ts";

const BULK = 100;
const FEW = 1_000;
const LONGEST_S = 3_600;
const SECONDS = 6;
/** After which a service that was started is idle. */
const IDLE_AFTER_S = 15;

type Order = { load: Load; server: Server; keys: readonly string[]; links: number; report: Report };

/** `requests`: of `BULK` links each, answered with 201. `passed`: also that every visit was answered and counted once. */
export async function measureManyLinks(bench: BenchService, { load, server, keys, links, report }: Order) {
  const { dataDir, service, pid, start, backend } = bench;
  const [all, few] = ["all", "few"].map((name) => join(dataDir, `${name}-slugs.txt`)) as [string, string];
  const created = await load.run({
    ...{ url: service.url, traffic: { kind: "creations", keys, bulk: BULK }, expect: 201 },
    ...{ seconds: LONGEST_S, amount: links / BULK, keepSlugs: all },
  });
  await server.settle?.();
  const createdMb = residentMb(pid);
  report.line(
    `${whole(links)} links: ${whole(created.rate * BULK)} links/s, ${whole(createdMb)} MB afterwards`,
  );
  const slugs = (await readFile(all, "utf8")).trimEnd().split("\n");
  await writeFile(few, `${slugs.slice(0, FEW).join("\n")}\n`);
  const runs: LoadResult[] = [];
  const rateOf = async (draw: "zipf" | "even", file: string) => {
    const traffic: Traffic = { kind: "visits", links, draw, slugs: file };
    const visits = { ...server, settle: () => secondsToCatchUp(backend) };
    runs.push(await measureRound(load, visits, { traffic, seconds: 2 }));
    const measured = await measureRound(load, visits, { traffic, seconds: SECONDS });
    runs.push(measured);
    return measured.rate;
  };
  const [overFew, zipf, even] = [
    await rateOf("zipf", few),
    await rateOf("zipf", all),
    await rateOf("even", all),
  ];
  const visitedMb = residentMb(pid);
  report.line(
    `redirects over all: ${(zipf / overFew).toFixed(2)} (zipf) and ${(even / overFew).toFixed(2)} (even) of those over ${whole(FEW)}, ${whole(visitedMb)} MB afterwards`,
  );
  const reckoned = await reckon(backend, runs, report);
  await service.stop();
  const starting = performance.now();
  const restarted = start();
  await untilAnswered(`${service.url}/${slugs.at(-1)}`);
  const firstRedirectS = (performance.now() - starting) / 1000;
  const again = await restarted;
  await delay(IDLE_AFTER_S * 1000);
  const idleMb = residentMb(again.child.pid ?? 0);
  await again.stop();
  report.line(`after a restart: first redirect ${firstRedirectS.toFixed(2)} s, idle ${whole(idleMb)} MB`);
  const memory = { createdMb, visitedMb, idleMb };
  return {
    passed: created.answered === links / BULK && slugs.length === links && reckoned.passed,
    ...{ requests: created.answered, linksPerSecond: created.rate * BULK },
    ...{ zipfOfFew: zipf / overFew, evenOfFew: even / overFew, ...memory, firstRedirectS },
  };
}

async function untilAnswered(url: string): Promise<void> {
  const until = performance.now() + 120_000;
  while (performance.now() < until) {
    const answer = await fetch(url, { redirect: "manual" }).catch(() => undefined);
    if (answer?.status === 301) return;
    await delay(10);
  }
  throw new Error(`${url} does not redirect`);
}
