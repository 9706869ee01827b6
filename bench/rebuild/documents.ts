// Digests of all documents of the active builds, to compare a rebuilt model with the live one.
import { createHash } from "node:crypto";
import type { Backend } from "../../src/backend.ts";
import type { Position } from "../../src/event-store/port.ts";
import { queriedBuild } from "../../src/projections/builds/build.ts";
import { readBuilds } from "../../src/projections/builds/builds-document.ts";
import { allProjections } from "../../src/projections/groups.ts";
import type { Document } from "../../src/read-store/port.ts";

const EVERYTHING = 10_000_000;

/**
 * SHA-256 of the documents, by projection, sorted by id; members of a document in any order. Without those that say
 * something later than `upTo`: the command that rebuilds is itself an event.
 */
export async function documentDigests(
  { foldStore }: Pick<Backend, "foldStore">,
  upTo: Position,
): Promise<Map<string, string>> {
  const builds = await readBuilds(foldStore);
  const digests = new Map<string, string>();
  for (const projection of allProjections) {
    const collection = queriedBuild(projection, builds)?.collection.name;
    if (!collection) continue;
    const hash = createHash("sha256");
    for (const document of await foldStore.find<Document>(collection, { limit: EVERYTHING }))
      if (document._position <= upTo) hash.update(`${JSON.stringify(document, sortedMembers)}\n`);
    digests.set(projection.name, hash.digest("hex"));
  }
  return digests;
}

/** Names of the projections whose documents differ. */
export function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name) !== other.get(name));
}

function sortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
