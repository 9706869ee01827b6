// Waits until the documents hold every event of the log.
import type { Backend } from "../../src/backend.ts";
import { clickProjections } from "../../src/projections/groups.ts";
import { checkpointName, type Projection } from "../../src/projections/projection.ts";

const TIMEOUT_MS = 300_000;
const QUIET_MS = 1000;

/** Resolves when all these projections have had nothing to fold for a second. @throws after five minutes */
export async function untilCaughtUp(
  { eventStore, readStore }: Backend,
  projections: readonly Projection[] = clickProjections,
): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  let quietSince = performance.now();
  for (;;) {
    const behind = await projectionsBehind({ eventStore, readStore }, projections);
    if (behind.length > 0) quietSince = performance.now();
    if (performance.now() - quietSince >= QUIET_MS) return;
    if (performance.now() > deadline) {
      throw new Error(
        `not caught up after ${TIMEOUT_MS / 1000} s: ${behind.map(({ name }) => name).join(", ")}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Those with an event that they have not folded: a server's own events move the log's end, too. */
async function projectionsBehind(
  { eventStore, readStore }: Pick<Backend, "eventStore" | "readStore">,
  projections: readonly Projection[],
): Promise<Projection[]> {
  const checkpoints = await readStore.checkpoints();
  const isBehind = new Map<string, boolean>();
  const rangeOf = (projection: Projection) =>
    `${checkpoints[checkpointName(projection)]?.position} ${projection.categories}`;
  for (const projection of projections) {
    const range = rangeOf(projection);
    if (isBehind.has(range)) continue;
    const after = checkpoints[checkpointName(projection)]?.position;
    const next = await eventStore.readAll({ after, categories: projection.categories, limit: 1 });
    isBehind.set(range, next.length > 0);
  }
  return projections.filter((projection) => isBehind.get(rangeOf(projection)));
}

/** Seconds until all events so far are folded, without the second for which untilCaughtUp watches the log. */
export async function secondsToCatchUp(
  backend: Backend,
  projections: readonly Projection[] = clickProjections,
): Promise<number> {
  const start = performance.now();
  await untilCaughtUp(backend, projections);
  return Math.max(0, performance.now() - start - QUIET_MS) / 1000;
}
