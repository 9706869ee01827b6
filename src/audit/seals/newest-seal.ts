// Keeps the position of the newest seal in the read store: seals that were removed at the end of the log leave no gap.
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { NewestSeal } from "./sealer.ts";

const COLLECTION = "log-seals";
const ID = "newest";

export function newestSeal(readStore: Pick<ReadStore, "get" | "write" | "drop">): NewestSeal {
  return {
    get: async () => (await readStore.get(COLLECTION, ID))?._position,
    // It moves forward only, as each document does.
    set: (position) =>
      readStore.write({
        documents: [{ collection: COLLECTION, documents: [{ _id: ID, _position: position }] }],
      }),
    forget: () => readStore.drop(COLLECTION),
  };
}
