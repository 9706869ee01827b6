// A build of a group, and what it keeps: its checkpoint, its collections, and the notes of what it has set aside.
import { setAsideCollection } from "../../stores/coordination/set-aside.ts";
import type { CollectionSpec, ReadStore } from "../../stores/read-store/port.ts";
import { groupCollections, type ProjectionGroup } from "../groups.ts";

/**
 * One fold of the whole log by one version of the group, with collections and a checkpoint of its own. `build`: its number.
 * `rules`: those (classification/classify.ts) under which clicks were classified again; absent: as recorded. `events`: how
 * many it passed before it took over; absent before, and of the first on an empty log.
 */
export type Build = { version: number; build: number; rules?: string; events?: number };

/** Of the checkpoint of a build. */
export function checkpointName(
  { name }: Pick<ProjectionGroup, "name">,
  { build }: Pick<Build, "build">,
): string {
  return build === 0 ? name : `${name}_b${build}`;
}

/** Of a collection of a build, by that of its projection. */
export function collectionName(collection: string, { build }: Pick<Build, "build">): string {
  return build === 0 ? collection : `${collection}_b${build}`;
}

/** Of the events that a build has set aside. */
export function notesName(group: Pick<ProjectionGroup, "name">, build: Pick<Build, "build">): string {
  return setAsideCollection(checkpointName(group, build));
}

/** Those of the documents and of the notes. */
export function collectionsOf(
  group: Pick<ProjectionGroup, "name" | "projections" | "hasClickTables">,
  build: Build,
): CollectionSpec[] {
  return [
    ...groupCollections(group).map(({ name, indexes }) => ({
      name: collectionName(name, build),
      indexes,
    })),
    { name: notesName(group, build), indexes: [] },
  ];
}

/** What is stored of one build. */
export type BuildStore = Pick<
  ReadStore,
  "get" | "getMany" | "find" | "count" | "countElements" | "checkpoint" | "write"
>;

/** By the names that all builds of the group have in common: of their collections, and of the group for the checkpoint. */
export function storeOfBuild(
  store: ReadStore,
  group: Pick<ProjectionGroup, "name">,
  build: Pick<Build, "build">,
): BuildStore {
  const notes = setAsideCollection(group.name);
  const named = (name: string) => (name === notes ? notesName(group, build) : collectionName(name, build));
  return {
    get: (name, id) => store.get(named(name), id),
    getMany: (name, ids, fields) => store.getMany(named(name), ids, fields),
    find: (name, query) => store.find(named(name), query),
    count: (name, query) => store.count(named(name), query),
    countElements: (name, query) => store.countElements(named(name), query),
    checkpoint: () => store.checkpoint(checkpointName(group, build)),
    write: ({ documents, checkpoint }) =>
      store.write({
        documents: documents.map((written) => ({ ...written, collection: named(written.collection) })),
        ...(checkpoint && { checkpoint: { ...checkpoint, name: checkpointName(group, build) } }),
      }),
  };
}
