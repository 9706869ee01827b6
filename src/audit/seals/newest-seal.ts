// Keeps the position of the newest seal in the read store: seals that were removed at the end of the log leave no gap.
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { NewestSeal } from "./sealer.ts";

/** Beside the checkpoints of projections; it moves forward only. */
const NAME = "log-seals";

export function newestSeal(
  readStore: Pick<ReadStore, "checkpoint" | "saveCheckpoint" | "resetCheckpoint">,
): NewestSeal {
  return {
    get: async () => (await readStore.checkpoint(NAME))?.position,
    set: (position) => readStore.saveCheckpoint(NAME, { position }),
    forget: () => readStore.resetCheckpoint(NAME),
  };
}
