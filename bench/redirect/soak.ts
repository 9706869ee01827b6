// A long run at a share of the service's maximum: memory over time, the delay of its event loop, and every click counted.
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/servers/free-port.ts";
import type { LoopDelay } from "../../test/support/service/event-loop-probe.ts";
import type { Environment } from "../../test/support/service/service-process.ts";
import type { LoadResult } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import { reckon } from "../measure/reckon.ts";
import { residentMb } from "../measure/resident-memory.ts";
import type { Options } from "../options.ts";
import { whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import type { Bench } from "./bench.ts";

const PROBE = fileURLToPath(new URL("../../test/support/service/event-loop-probe.ts", import.meta.url));
const MAXIMUM_S = 8;

/** Environment of a service whose event loop is measured. */
export async function withLoopProbe(): Promise<Environment> {
  return { NODE_OPTIONS: `--import=${PROBE}`, PROBE_PORT: String(await freePort()) };
}

export async function soak(
  { minutes, share = 0.7 }: Options & { minutes: number },
  bench: Bench,
): Promise<Outcome> {
  const { load, server, traffic, backend, instance, pid, report } = bench;
  const ofProbe = async (path: string) =>
    (await (await fetch(`http://127.0.0.1:${instance.PROBE_PORT}/${path}`)).json()) as LoopDelay;
  const warmUp = await load.run({ url: server.url, traffic, seconds: MAXIMUM_S });
  const full = await load.run({ url: server.url, traffic, seconds: MAXIMUM_S });
  // What is only answered can't go on for minutes: clicks would wait to be counted for as long as it lasts.
  const most = full.answered / (full.seconds + (await secondsToCatchUp(backend)));
  const rate = Math.round(most * share);
  report.line(
    `${whole(rate)} redirects/s, ${share} of ${whole(most)} answered and counted, for ${minutes} minutes`,
  );
  await ofProbe("reset");
  const minute = () =>
    load.run({ url: server.url, traffic, seconds: 60 * Math.min(1, minutes - results.length), rate });
  const results: LoadResult[] = [];
  const memoryMb: number[] = [];
  while (results.length < minutes) {
    results.push(await minute());
    memoryMb.push(residentMb(pid));
  }
  const delay = await ofProbe("read");
  const completeAfterS = await secondsToCatchUp(backend);
  report.line(`memory after each minute: ${memoryMb.map(whole).join(", ")} MB`);
  report.line(`p99 of each minute: ${results.map(({ p99 }) => p99.toFixed(1)).join(", ")} ms`);
  report.line(`event loop delay p99 ${delay.p99} ms, p99.9 ${delay.p999} ms, most ${delay.max} ms`);
  report.line(`complete after ${completeAfterS.toFixed(1)} s`);
  const reckoned = await reckon(backend, [warmUp, full, ...results], report);
  const measured = { rate, memoryMb, delay, completeAfterS, load: results, reckoned };
  return { passed: reckoned.passed, measured };
}
