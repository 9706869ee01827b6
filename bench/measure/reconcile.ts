// Counts clicks in the log and in the documents after a run, to compare them with the answered redirects.
import type { Backend } from "../../src/backend.ts";
import { PREFIX } from "../../src/events/streams.ts";
import { type LinkTotalsDocument, linkTotals } from "../../src/projections/definitions/link-totals.ts";
import { clickProjections } from "../../src/projections/groups.ts";
import { checkpointName, type Projection } from "../../src/projections/projection.ts";

const PAGE = 5000;
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
    `${checkpoints[checkpointName(projection)]?.position} ${projection.prefixes}`;
  for (const projection of projections) {
    const range = rangeOf(projection);
    if (isBehind.has(range)) continue;
    const after = checkpoints[checkpointName(projection)]?.position;
    const next = await eventStore.readAll({ after, prefixes: projection.prefixes, limit: 1 });
    isBehind.set(range, next.length > 0);
  }
  return projections.filter((projection) => isBehind.get(rangeOf(projection)));
}

/** Seconds until all clicks so far are folded, without the second for which untilCaughtUp watches the log. */
export async function secondsToCatchUp(backend: Backend): Promise<number> {
  const start = performance.now();
  await untilCaughtUp(backend);
  return Math.max(0, performance.now() - start - QUIET_MS) / 1000;
}

/** LinkClicked events in the log. */
export async function clicksInLog({ eventStore }: Backend): Promise<number> {
  let count = 0;
  let after: string | undefined;
  for (;;) {
    const events = await eventStore.readAll({ prefixes: [PREFIX.clicks], after, limit: PAGE });
    count += events.filter(({ type }) => type === "LinkClicked").length;
    if (events.length < PAGE) return count;
    after = events.at(-1)?.position;
  }
}

/** The sum of all links' totals. */
export async function clicksInTotals({ readStore }: Backend): Promise<number> {
  const collection = linkTotals.collection.name;
  let sum = 0;
  let after: { value: string; id: string } | undefined;
  for (;;) {
    const sort = { field: "link", direction: "asc" as const };
    const page = await readStore.find<LinkTotalsDocument>(collection, {
      sort,
      limit: PAGE,
      ...(after ? { after } : {}),
    });
    sum += page.reduce((total, { totalClicks }) => total + totalClicks, 0);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return sum;
    after = { value: last.link, id: last._id };
  }
}
