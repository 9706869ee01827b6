// What of the builds of a group a program finds when it starts: its own is listed, and what is queried is of this log.
import type { BasicLogger } from "../../runtime/logging.ts";
import { type EventStore, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { type Build, checkpointName, collectionsOf } from "../fold/build.ts";
import { whyAnew } from "../fold/open-build.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Builds, beginAnew, dropped, isListed, register } from "./builds.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";

export type RegisterDeps = {
  eventStore: EventStore;
  /** The unmapped store. */
  readStore: ReadStore;
  newId: () => string;
  log: Pick<BasicLogger, "error">;
};

/** Lists a build of this program's version, and creates the collections that queries read. @throws what the stores throw */
export async function registerBuilds(deps: RegisterDeps, group: ProjectionGroup): Promise<Builds> {
  const { eventStore, readStore } = deps;
  const { categories } = group;
  const registered = await changeBuilds(deps, group, async (builds) => {
    const isFirst = !builds.active && !builds.previous && !builds.building;
    const firstPage = isFirst && (await eventStore.readAll({ after: START, categories, limit: 1 }));
    const isEmpty = firstPage !== false && firstPage.events.length === 0;
    return register(builds, group, { isEmpty });
  });
  const builds = await replaceForeign(deps, group, registered);
  const answering = [builds.active, builds.previous].filter((build) => build !== undefined);
  for (const build of answering) await readStore.ensure(collectionsOf(group, build));
  return builds;
}

/** Begins anew where a build was folded from another log, or was put back from a copy that is not of one moment. @throws what the stores throw */
export async function replaceForeign(
  deps: RegisterDeps,
  group: ProjectionGroup,
  builds: Builds,
): Promise<Builds> {
  let replaced = builds;
  for (const build of [builds.active, builds.previous]) {
    const checkpoint = build && (await deps.readStore.checkpoint(checkpointName(group, build)));
    const because = build && (await whyAnew(deps, group, build, checkpoint));
    if (because) replaced = await foldAnew(deps, group, build, because);
  }
  return replaced;
}

/** A new build is folded instead, and nothing is answered from this one any more; said once, in the log. */
export async function foldAnew(
  deps: RegisterDeps,
  group: ProjectionGroup,
  wrong: Build,
  because: string,
): Promise<Builds> {
  let isReplaced = false;
  const builds = await changeBuilds(deps, group, (now) => {
    isReplaced = isListed(now, wrong);
    if (isReplaced) return beginAnew(now, group, wrong, because);
    // The list was dropped, too, or put back from an older copy; else the build was cancelled, and its documents dropped for that.
    return wrong.build < now.next ? now : register(now, group, { isEmpty: false });
  });
  if (isReplaced)
    deps.log.error({ group: group.name, build: wrong.build }, `${because}: they are folded anew`);
  return builds;
}

/** Drops documents and checkpoints of retired builds, also those that a crashed process had retired. */
export async function dropRetired(
  deps: Pick<RegisterDeps, "readStore" | "newId">,
  group: ProjectionGroup,
): Promise<void> {
  const { retired } = await readBuilds(deps.readStore, group);
  if (retired.length === 0) return;
  for (const build of retired) await dropBuild(deps, group, build);
  await changeBuilds(deps, group, (builds) => dropped(builds, retired));
}

/** Drops what was made anew of a build that is listed no more, by who had read the list before. */
export async function dropUnlisted(
  deps: Pick<RegisterDeps, "readStore">,
  group: ProjectionGroup,
  build: Build,
): Promise<void> {
  if (!isListed(await readBuilds(deps.readStore, group), build)) await dropBuild(deps, group, build);
}

async function dropBuild(
  { readStore }: Pick<RegisterDeps, "readStore">,
  group: ProjectionGroup,
  build: Build,
): Promise<void> {
  await readStore.dropCheckpoint(checkpointName(group, build));
  for (const { name } of collectionsOf(group, build)) await readStore.drop(name);
}
