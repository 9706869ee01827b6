// Notes the newest seal outside of the log, beside the documents: that the log's end was removed can't be seen in what is left.
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import type { KnownSeal } from "./seal.ts";

export type NotedSeal = {
  get(): Promise<KnownSeal | undefined>;
  /** Undefined for a log that was restored from an older backup. */
  set(seal: KnownSeal | undefined): Promise<void>;
};

type Note = Document & { seal: KnownSeal | null };

const COLLECTION = "log-seals";
const ID = "newest";

export function notedSeal(readStore: Pick<ReadStore, "get" | "write">): NotedSeal {
  const read = () => readStore.get<Note>(COLLECTION, ID);
  return {
    get: async () => (await read())?.seal ?? undefined,
    async set(seal) {
      const revision = String(Number((await read())?._position ?? "0") + 1).padStart(20, "0");
      const note: Note = { _id: ID, _position: revision, seal: seal ?? null };
      await readStore.write({ documents: [{ collection: COLLECTION, documents: [note] }] });
    },
  };
}
