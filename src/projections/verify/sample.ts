// Restricts a projection to some of its documents, drawn by their keys, so that a quick check folds few documents.
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

const HASHES = 2 ** 32;

/**
 * About `wanted` of the projection's documents, others each time. By key, not from the stored documents, so that one that
 * is missing is drawn, too.
 */
export async function sampleOf(
  { readStore, random }: { readStore: Pick<ReadStore, "count">; random: () => number },
  projection: Projection,
  wanted: number,
): Promise<Projection> {
  const stored = await readStore.count(projection.collection.name, {});
  const below = stored > wanted ? (wanted / stored) * HASHES : HASHES;
  const seed = Math.floor(random() * HASHES);
  return {
    ...projection,
    key(event) {
      const key = projection.key(event);
      return key !== undefined && hashOf(key, seed) < below ? key : undefined;
    },
  };
}

/** FNV-1a with a final mix (MurmurHash3's), as keys of one link differ in their last characters only. */
function hashOf(text: string, seed: number): number {
  let hash = (2166136261 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  hash = Math.imul(hash ^ (hash >>> 16), 2246822507);
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
  return (hash ^ (hash >>> 16)) >>> 0;
}
