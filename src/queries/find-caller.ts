// Whose key is this? Asked on every authenticated request.
import type { Caller } from "../commands/caller.ts";
import { type AccountDocument, accounts } from "../projections/accounts.ts";
import { type KeyDocument, keys } from "../projections/keys.ts";
import type { ReadStore } from "../read-store/port.ts";

export type KeyCaller = Caller & { keyId: string };

/** `keyHash`: SHA-256 of the whole key, hex. Undefined for an unknown or deactivated key or a closed account. */
export async function findCaller(
  { readStore }: { readStore: ReadStore },
  keyHash: string,
): Promise<KeyCaller | undefined> {
  const where = { keyHash };
  const [key] = await readStore.find<KeyDocument>(keys.collection.name, { where, limit: 1 });
  if (key?.status !== "active") return undefined;
  const account = await readStore.get<AccountDocument>(accounts.collection.name, key.accountId);
  if (account?.status !== "open") return undefined;
  return { accountId: key.accountId, tier: account.tier, via: "api", keyId: key._id };
}
