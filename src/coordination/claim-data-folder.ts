// Binds a shared event log or MongoDB to one data folder when the other stores are files in it: a second folder would
// be a second service on the same store, with its own passwords, and each webhook would be delivered twice.
import { type EventStore, RevisionConflict } from "../event-store/port.ts";
import type { Secrets } from "../secrets/port.ts";

export type ClaimDeps = { eventStore: EventStore; secrets: Secrets; clock: () => Date; newId: () => string };

/** Stream in the log and key in the secrets. The stream has no category, so no subscription or statistic includes it. */
const NAME = "installation";

/**
 * Whether this data folder is the one that first used the shared store. The folder's id is kept in the store that is
 * on files and claimed in the `shared` store. Idempotent, also when several processes call it concurrently.
 * @throws StoreUnavailable
 */
export async function claimForDataFolder(deps: ClaimDeps, shared: "log" | "documents"): Promise<boolean> {
  const [keepHere, claim] = shared === "log" ? [keepInSecrets, keepInLog] : [keepInLog, keepInSecrets];
  const own = await keepHere(deps, deps.newId());
  return own === (await claim(deps, own));
}

/** Returns the id that the store has: this one, unless it had another before. */
async function keepInSecrets({ secrets, clock }: ClaimDeps, id: string): Promise<string> {
  return String(await secrets.putIfAbsent(NAME, { value: id }, clock()));
}

async function keepInLog({ eventStore, newId }: ClaimDeps, dataFolder: string): Promise<string> {
  const origin = { correlationId: NAME, causationId: NAME, actor: { type: "system", id: NAME } } as const;
  const metadata = { schemaVersion: 1, ...origin };
  const claim = { id: newId(), type: "DataFolderClaimed", data: { dataFolder }, metadata };
  const known = async () =>
    (await eventStore.read(NAME, { limit: 1 }))[0]?.data as typeof claim.data | undefined;
  const existing = await known();
  if (existing) return existing.dataFolder;
  try {
    await eventStore.append(NAME, "none", [claim]);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
  }
  return (await known())?.dataFolder ?? dataFolder;
}
