// Writes down which builds there are: those of a data folder as it is found, and those that are to be made.

import type { EventStore } from "../../event-store/port.ts";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import { DomainError } from "../../runtime/errors.ts";
import { checkpointName, type Projection } from "../projection.ts";
import {
  asBuild,
  type Build,
  type Building,
  type Builds,
  foldedBuild,
  numbered,
  type ProjectionBuilds,
} from "./build.ts";
import { changeBuilds, collectionOf, readBuilds } from "./builds-document.ts";

export class BuildInProgress extends DomainError {
  override readonly code = "build_in_progress";
}

export class NothingElseAnswers extends DomainError {
  override readonly code = "nothing_else_answers";
}

type Deps = {
  readStore: ReadStore;
  clock: () => Date;
  newId: () => string;
  /** Who folds what is registered; nobody yet when absent. */
  by?: string;
};

/** A builder that was silent for longer is taken for dead; two at once only do each other's work again. */
const DEAD_AFTER_MS = 10_000;

/**
 * Takes over what is there: documents that a version without this bookkeeping folded, or, beside an empty log, nothing,
 * which is a complete build. @throws what the stores throw
 */
export async function adoptBuilds(
  deps: Pick<Deps, "readStore" | "newId"> & { eventStore: Pick<EventStore, "head"> },
  projections: readonly Projection[],
): Promise<Builds> {
  const known = await readBuilds(deps.readStore);
  if (projections.every(({ name }) => known.projections[name])) return known;
  const checkpoints = await deps.readStore.checkpoints();
  const isEmpty = (await deps.eventStore.head()) === undefined;
  return await changeBuilds(deps.readStore, deps.newId, (builds) => {
    for (const projection of projections)
      builds.projections[projection.name] ??= found(projection, checkpoints, isEmpty);
  });
}

function found(
  projection: Projection,
  checkpoints: Record<string, Checkpoint>,
  isEmpty: boolean,
): ProjectionBuilds {
  const { name, version, collection } = projection;
  const build = (of: number): Build => ({
    ...{ version: of, build: 0 },
    collection: of === version ? collection.name : collectionOf(name, of),
  });
  const versions = Object.keys(checkpoints)
    .filter((one) => one.startsWith(`${name}:`) && !one.includes("#"))
    .map((one) => Number(one.slice(name.length + 1)))
    .sort((a, b) => b - a);
  const [active, previous] = versions.map(build);
  if (active === undefined) return isEmpty ? { active: build(version) } : {};
  return previous ? { active, previous } : { active };
}

/** What this program has no build of, it has to make. Answers when that is written down. @throws what the store throws */
export async function registerMissing(
  deps: Deps,
  projections: readonly Projection[],
  activates: boolean,
): Promise<Builds> {
  return await changeBuilds(deps.readStore, deps.newId, (builds) => {
    const number = builds.next;
    for (const projection of projections) {
      const entry = builds.projections[projection.name];
      if (foldedBuild(projection, builds)) continue;
      const { building } = entry ?? {};
      // Another program's newer build comes first.
      if (building && building.version > projection.version) continue;
      if (building?.version === projection.version) building.activates ||= activates;
      else register(deps, builds, projection, activates, number);
    }
  });
}

/** A build anew, of each; one that was interrupted goes on. @throws BuildInProgress while another makes one of them */
export async function registerAnew(deps: Deps, projections: readonly Projection[]): Promise<Builds> {
  return await changeBuilds(deps.readStore, deps.newId, (builds) => {
    const number = builds.next;
    for (const projection of projections) {
      const building = builds.projections[projection.name]?.building;
      if (building && !isFree(deps, building))
        throw new BuildInProgress(`${projection.name} is being built; try again when that has ended`);
      if (building?.version === projection.version) building.activates = true;
      else register(deps, builds, projection, true, number);
    }
  });
}

/** Ends builds in the making: nothing is left of them. Whoever folds one of them stops. Answers their checkpoints. */
export async function cancelBuilds(deps: Deps, projections: readonly Projection[]): Promise<string[]> {
  const cancelled: string[] = [];
  await changeBuilds(deps.readStore, deps.newId, (builds) => {
    cancelled.length = 0;
    for (const projection of projections) {
      const entry = builds.projections[projection.name];
      if (!entry?.building) continue;
      if (!entry.active)
        throw new NothingElseAnswers(
          `This is the first build of ${projection.name}: without it there is nothing to answer from`,
        );
      cancelled.push(checkpointName(asBuild(projection, entry.building)));
      retire(builds, projection, entry.building);
      delete entry.building;
    }
  });
  await dropRetired(deps, projections);
  return cancelled;
}

/** Whether nobody folds it, or the caller itself. */
export function isFree({ clock, by }: Pick<Deps, "clock" | "by">, building: Building): boolean {
  if (building.by === "" || building.by === by) return true;
  return clock().getTime() - Date.parse(building.aliveAt) >= DEAD_AFTER_MS;
}

/** To be dropped, by whoever comes first. */
export function retire(builds: Builds, projection: Projection, build: Build): void {
  const { version, build: number, collection } = build;
  builds.retired[checkpointName(asBuild(projection, build))] = { version, build: number, collection };
}

/** Drops documents and checkpoints of retired builds, also those that a process left which died before it was done. */
export async function dropRetired(
  { readStore, newId }: Pick<Deps, "readStore" | "newId">,
  projections: readonly Projection[],
): Promise<void> {
  const isOurs = (checkpoint: string) => projections.some(({ name }) => checkpoint.startsWith(`${name}:`));
  const { retired } = await readBuilds(readStore);
  const dropped = Object.entries(retired).filter(([checkpoint]) => isOurs(checkpoint));
  if (dropped.length === 0) return;
  for (const [checkpoint, { collection }] of dropped) await dropBuild(readStore, checkpoint, collection);
  await changeBuilds(readStore, newId, (builds) => {
    for (const [checkpoint] of dropped) delete builds.retired[checkpoint];
  });
}

export async function dropBuild(readStore: ReadStore, checkpoint: string, collection: string): Promise<void> {
  await readStore.resetCheckpoint(checkpoint);
  await readStore.drop(collection);
}

function register(
  deps: Deps,
  builds: Builds,
  projection: Projection,
  activates: boolean,
  number: number,
): void {
  const entry = builds.projections[projection.name] ?? { active: numbered(projection, 0) };
  builds.projections[projection.name] = entry;
  if (entry.building) retire(builds, projection, entry.building);
  const isFirst = !entry.active && !entry.previous && !entry.building;
  if (!isFirst) builds.next = number + 1;
  entry.building = {
    ...numbered(projection, isFirst ? 0 : number),
    ...{ by: deps.by ?? "", aliveAt: deps.clock().toISOString(), activates: activates || isFirst },
    progress: { events: 0, eventsPerSecond: 0, done: 0 },
  };
}
