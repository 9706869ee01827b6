// Work on chosen builds that ends when others have become live: those go on from their own checkpoints.
import { pause } from "../pause.ts";
import type { ReadStore } from "../read-store/port.ts";
import { liveOf, readBuilds } from "./builds.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Projection } from "./projection.ts";

type Deps = {
  readStore: Pick<ReadStore, "get">;
  projections: readonly Projection[];
  log: { info(message: string): void };
};

const LOOK_EVERY_MS = 1_000;

/** `chosen`: checkpoint names, in the order of the projections. @throws what the work throws */
export async function untilSwapped(
  deps: Deps,
  chosen: readonly string[],
  signal: AbortSignal,
  work: (turn: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const turn = AbortSignal.any([signal, over.signal]);
  const watching = watch(deps, chosen, turn).then(() => over.abort());
  try {
    await work(turn);
  } finally {
    over.abort();
    await watching;
  }
}

export async function liveBuilds({
  readStore,
  projections,
}: Pick<Deps, "readStore" | "projections">): Promise<Projection[]> {
  const builds = await readBuilds(readStore);
  return projections.map((projection) => liveOf(projection, builds));
}

async function watch(deps: Deps, chosen: readonly string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(LOOK_EVERY_MS, signal);
    if (signal.aborted) return;
    // A store that doesn't answer is the work's own trouble.
    const live = await liveBuilds(deps).catch(() => []);
    const swapped = live.map(checkpointName).filter((name, n) => name !== chosen[n]);
    if (swapped.length === 0 || signal.aborted) continue;
    deps.log.info(`projections go on with other builds: ${swapped.join(", ")}`);
    return;
  }
}
