// Opens a build where its fold goes on, or says why it has to be folded anew.
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { START } from "../../stores/event-store/port.ts";
import type { Checkpoint } from "../../stores/read-store/port.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Build, checkpointName, collectionsOf } from "./build.ts";
import { BuildState } from "./build-state.ts";
import { droppedOrOlder, type FoldDeps, FoldedFromElsewhere } from "./fold-deps.ts";

const AT_START: Checkpoint = { position: START, eventId: "" };

/**
 * Goes on from the build's checkpoint. One without a checkpoint begins with one: a first commit without one would not notice
 * that its documents were dropped before it ended. Nothing is dropped here, as another holder may have committed it by now.
 * @throws FoldedFromElsewhere when it can't be folded on; CheckpointMoved
 */
export async function openBuild(deps: FoldDeps, group: ProjectionGroup, build: Build): Promise<BuildState> {
  const { readStore } = deps;
  const name = checkpointName(group, build);
  const stored = await readStore.checkpoint(name);
  const checkpoint = stored ?? AT_START;
  const because = await whyAnew(deps, group, build, stored);
  if (because !== undefined) throw new FoldedFromElsewhere(because);
  await readStore.ensure(collectionsOf(group, build));
  if (!stored) await readStore.write({ documents: [], checkpoint: { name, from: stored, to: checkpoint } });
  const state = new BuildState(deps, group, build, checkpoint);
  await state.open();
  return state;
}

/** Why the documents of a build can't be folded on from its checkpoint; undefined where they can. @throws StoreUnavailable */
export async function whyAnew(
  { eventStore, readStore }: Pick<FoldDeps, "eventStore" | "readStore">,
  group: ProjectionGroup,
  build: Build,
  checkpoint: Checkpoint | undefined,
): Promise<string | undefined> {
  const name = checkpointName(group, build);
  if (!checkpoint) {
    const firstOfEach = await Promise.all(
      collectionsOf(group, build).map((spec) => readStore.find(spec.name, { limit: 1, fields: [] })),
    );
    const isOfAnotherTime =
      firstOfEach.some((documents) => documents.length > 0) && !(await readStore.checkpoint(name));
    return isOfAnotherTime ? droppedOrOlder(name) : undefined;
  }
  if (!(await isOfThisLog({ eventStore }, checkpoint)))
    return `the documents were folded from another log, which had another event at ${checkpoint.position}`;
  const inconsistency = await readStore.inconsistency(name);
  return (
    inconsistency && `the documents were put back from a copy of several moments (${name}: ${inconsistency})`
  );
}
