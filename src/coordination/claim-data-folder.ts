// Where only the log or only MongoDB is shared, the rest is files of one data folder: a second folder would make two
// services of it, with passwords of their own and each webhook delivered twice. The shared store remembers the first.
import { type EventStore, RevisionConflict } from "../event-store/port.ts";
import type { Secrets } from "../secrets/port.ts";

export type ClaimDeps = { eventStore: EventStore; secrets: Secrets; clock: () => Date; newId: () => string };

/** Stream in the log and key among the secrets. Of no category of streams, so that nothing subscribes to it or counts it. */
const NAME = "installation";

/**
 * Whether this data folder is the first that was used with the shared store, or is it still. Its id lies in the store
 * that is on files, and is claimed in the `shared` one. Safe to repeat and from several processes.
 * @throws StoreUnavailable
 */
export async function claimForDataFolder(deps: ClaimDeps, shared: "log" | "documents"): Promise<boolean> {
  const { newId } = deps;
  const [own, first] =
    shared === "log"
      ? await inTurn(
          newId(),
          (id) => keepInSecrets(deps, id),
          (id) => keepInLog(deps, id),
        )
      : await inTurn(
          newId(),
          (id) => keepInLog(deps, id),
          (id) => keepInSecrets(deps, id),
        );
  return own === first;
}

type Keep = (id: string) => Promise<string>;

async function inTurn(id: string, keepHere: Keep, claim: Keep): Promise<[own: string, first: string]> {
  const own = await keepHere(id);
  return [own, await claim(own)];
}

async function keepInSecrets({ secrets, clock }: ClaimDeps, id: string): Promise<string> {
  return String(await secrets.putIfAbsent(NAME, { value: id }, clock()));
}

async function keepInLog({ eventStore, newId }: ClaimDeps, dataFolder: string): Promise<string> {
  const origin = { correlationId: NAME, causationId: NAME, actor: { type: "system", id: NAME } } as const;
  const metadata = { schemaVersion: 1, ...origin };
  const claim = { id: newId(), type: "DataFolderClaimed", data: { dataFolder }, metadata };
  const known = async () =>
    (await eventStore.read(NAME, { limit: 1 }))[0]?.data as typeof claim.data | undefined;
  const before = await known();
  if (before) return before.dataFolder;
  try {
    await eventStore.append(NAME, "none", [claim]);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
  }
  return (await known())?.dataFolder ?? dataFolder;
}
