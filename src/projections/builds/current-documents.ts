// Documents as of the end of the log for readers that may not write: those that are stored, or a temporary store's.
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { categoriesOf, checkpointName, type Projection } from "../projection.ts";
import { queriedBuild } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { foldActive } from "./fold-active.ts";
import type { FoldBuildsDeps } from "./fold-builds.ts";
import { registerProjections } from "./register-builds.ts";

type Deps = FoldBuildsDeps & {
  /** Opens an empty store of the caller's own. */
  openScratch: () => Promise<ReadStore>;
  sleep: (ms: number) => Promise<void>;
};

const POLL_MS = 100;
/** For the projector of a running service, which needs a fraction of it. */
const LONGEST_WAIT_MS = 2_000;

/**
 * `readStore` when it is at the end of the log or gets there in time, else a new store in which the log was folded again;
 * it has no other projections. `isFolded`: whether somebody may be folding. @throws what the stores throw
 */
export async function currentDocuments(
  deps: Deps,
  projections: readonly Projection[],
  { isFolded }: { isFolded: boolean },
): Promise<ReadStore> {
  const head = await deps.eventStore.head();
  const builds = await readBuilds(deps.readStore);
  const queried = projections.flatMap((projection) => queriedBuild(projection, builds) ?? []);
  if (queried.length === projections.length)
    for (let waited = 0; waited <= (isFolded ? LONGEST_WAIT_MS : 0); waited += POLL_MS) {
      if (await areCurrent(deps, queried, head)) return deps.readStore;
      if (isFolded) await deps.sleep(POLL_MS);
    }
  const readStore = await deps.openScratch();
  try {
    const folding = { ...deps, readStore };
    await registerProjections(folding, projections);
    await foldActive(folding, projections);
    return readStore;
  } catch (error) {
    await readStore.close();
    throw error;
  }
}

/** Whether no event up to `head` is missing; one that waits for a newer program is as current as it can be. */
async function areCurrent(
  { eventStore, readStore }: { eventStore: EventStore; readStore: ReadStore },
  builds: readonly Projection[],
  head: Position | undefined,
): Promise<boolean> {
  const reached: Position[] = [];
  for (const build of builds) {
    const checkpoint = await readStore.checkpoint(checkpointName(build));
    if (!checkpoint?.waitsFor) reached.push(checkpoint?.position ?? "");
  }
  const [after] = reached.sort();
  if (head === undefined || after === undefined || after >= head) return true;
  const categories = categoriesOf(builds);
  const [next] = await eventStore.readAll({ after: after || undefined, categories, limit: 1 });
  return next === undefined || next.position > head;
}
