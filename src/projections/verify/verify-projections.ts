// Folds the log again beside the documents that answer, and names each document that differs from it.
import { PRESENT_RULES } from "../../events/classification/classify.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { upTo } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { Checkpoint, ReadStore } from "../../stores/read-store/port.ts";
import { type Builds, isUnderOtherRules, queriedBuild } from "../builds/build.ts";
import { readBuilds } from "../builds/builds-document.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { ProjectionRunner } from "../runner/runner.ts";
import { type Comparison, compareAll } from "./compare-all.ts";
import { compareChanged } from "./compare-changed.ts";
import type { Difference } from "./differences.ts";
import { sampleOf } from "./sample.ts";
import { type SumFailure, sumChecks } from "./sums.ts";

export type VerifyDeps = {
  eventStore: EventStore;
  /** The unmapped store, not activeReadStore. */
  readStore: ReadStore;
  /** An empty store, which is filled with the documents that are folded again. */
  scratch: ReadStore;
  /** [0, 1), to draw samples. */
  random: () => number;
  log: BasicLogger;
};

/** `documents`: how many were compared; `position`: up to where all of the projection was folded again. */
export type VerifiedProjection = {
  name: string;
  version: number;
  build: number;
  position: Position;
  documents: number;
  differences: number;
};

/**
 * `ok`: something was compared, and nothing differs. `differences`: at most MAX_NAMED of them, each with the first fields
 * that differ. `sums`: counts that should add up and don't. `unverified`: projections that aren't built yet, or can't be
 * folded again by this program.
 */
export type Verification = {
  ok: boolean;
  projections: VerifiedProjection[];
  unverified: { name: string; reason: string }[];
  differences: Difference[];
  sums: SumFailure[];
  events: number;
};

export type VerifyOptions = {
  /** About so many documents of each projection, drawn at random; all when absent. */
  sample?: number | undefined;
};

/** How many differences and sums are named; all are counted. */
const MAX_NAMED = 100;

/**
 * The log is folded up to each projection's checkpoint; a document that has been changed since then is compared as of
 * its own position, so that a running service is no difference. With a sample, documents that should not exist are not
 * looked for. Projections and differences are in the order of `chosen`. @throws what the stores throw
 */
export async function verifyProjections(
  deps: VerifyDeps,
  chosen: readonly Projection[],
  { sample }: VerifyOptions = {},
): Promise<Verification> {
  const builds = await readBuilds(deps.readStore);
  const checkpoints = await deps.readStore.checkpoints();
  const { verifiable, unverified } = foldable(chosen, builds);
  const found: Comparison[] = [];
  const failures: SumFailure[] = [];
  let events = 0;
  for (const { position, projections } of byCheckpoint(verifiable, checkpoints)) {
    const sampled = await Promise.all(
      projections.map((one) => (sample === undefined ? one : sampleOf(deps, one, sample))),
    );
    events += await foldAgain(deps, sampled, position);
    const sums = sumChecks(sample === undefined);
    const comparisons: Comparison[] = [];
    for (const projection of sampled)
      comparisons.push(
        await compareAll({ ...deps, sums, isSample: sample !== undefined }, projection, position),
      );
    await compareChanged(deps, comparisons, position);
    found.push(...comparisons);
    failures.push(...sums.failures());
  }
  const compared = inOrderOf(verifiable, found);
  const differences = compared.flatMap((one) => one.differences);
  return {
    ok: compared.length > 0 && differences.length + failures.length === 0,
    projections: compared.map(resultOf),
    unverified,
    differences: differences.slice(0, MAX_NAMED),
    sums: failures.slice(0, MAX_NAMED),
    events,
  };
}

/** What answers now, where it was folded by this program's version: another version's code isn't here. */
function foldable(chosen: readonly Projection[], builds: Builds) {
  const verifiable: Projection[] = [];
  const unverified: Verification["unverified"] = [];
  for (const projection of chosen) {
    const answers = queriedBuild(projection, builds);
    const reason = whyNot(projection, answers);
    if (reason !== undefined) unverified.push({ name: projection.name, reason });
    else if (answers) verifiable.push(answers);
  }
  return { verifiable, unverified };
}

function whyNot({ version }: Projection, answers: Projection | undefined): string | undefined {
  if (!answers) return "not built yet";
  if (answers.version !== version)
    return `answered by version ${answers.version}, and this program folds version ${version}`;
  // Clicks that were classified again can be so once more by the same rules alone.
  if (isUnderOtherRules(answers))
    return `folded under rules ${answers.rules}, and this program has ${PRESENT_RULES}`;
  return undefined;
}

/** Projections with the same checkpoint are folded in one pass over the log, as their runner does. */
function byCheckpoint(projections: readonly Projection[], checkpoints: Record<string, Checkpoint>) {
  const positionOf = (one: Projection) => checkpoints[checkpointName(one)]?.position ?? "";
  return [...Map.groupBy(projections, positionOf)].map(([position, own]) => ({ position, projections: own }));
}

/** Checkpoints differ by where a process was stopped: their order would make equal documents two different answers. */
function inOrderOf(projections: readonly Projection[], found: readonly Comparison[]): Comparison[] {
  const byName = new Map(found.map((one) => [one.projection.name, one]));
  return projections.flatMap(({ name }) => byName.get(name) ?? []);
}

/** Returns the number of events. */
async function foldAgain(
  deps: VerifyDeps,
  projections: readonly Projection[],
  position: Position,
): Promise<number> {
  const eventStore = upTo(deps.eventStore, position);
  const runner = new ProjectionRunner({
    ...deps,
    ...{ eventStore, projections: projections.map(withoutIndexes), readStore: deps.scratch },
  });
  let events = 0;
  await runner.catchUp(async (more) => {
    events += more;
  });
  return events;
}

function withoutIndexes(projection: Projection): Projection {
  return { ...projection, collection: { ...projection.collection, indexes: [] } };
}

function resultOf({ projection, position, documents, differences }: Comparison): VerifiedProjection {
  const { name, version, build = 0 } = projection;
  return { name, version, build, position, documents, differences: differences.length };
}
