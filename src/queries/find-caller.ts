// Looks up the caller of an API key on every authenticated request; never returns state older than the last followed
// change.
import { LRUCache } from "lru-cache";
import type { AccountKey, AccountState, KeyTerms } from "../commands/account/account.ts";
import { type CurrentAccounts, loadAccount } from "../commands/account/account-stream.ts";
import { roleOfKey } from "../commands/account/authority.ts";
import type { Caller } from "../commands/caller.ts";
import { PREFIX } from "../events/streams.ts";
import type { Role, Tier } from "../events/vocabulary.ts";
import { orNotBuilt } from "../projections/builds/errors.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type KeyDocument, type KeyTextDocument, keys, keyTexts } from "../projections/definitions/keys.ts";
import { entriesBound } from "../runtime/entries-bound.ts";
import type { FollowedEvent } from "../stores/coordination/log-follower.ts";
import { minVersions } from "../stores/coordination/min-versions.ts";
import type { EventStore, Position } from "../stores/event-store/port.ts";
import type { ReadStore } from "../stores/read-store/port.ts";

/**
 * `expiresAt`: of the key's text that was sent, ISO 8601 UTC; one that was replaced ends before the key does. `role`: what
 * bounds the key.
 */
export type KeyCaller = Caller & { keyId: string; role: Role } & KeyTerms;

type CallerLookupDeps = {
  readStore: ReadStore;
  eventStore: EventStore;
  /** The account as of now, where that is known without reading it. */
  knownAccount: CurrentAccounts["known"];
  /** Resolves when every event appended so far, by any process, has been passed to `onEvent`. */
  catchUp: () => Promise<void>;
};

type KeyOwner = { accountId: string; keyId: string; keyHash: string };

/** Events of an account by which a key of it may do more or less. */
const OF_ACCOUNTS: ReadonlySet<string> = new Set([
  "TierChanged",
  "AccountClosed",
  "MemberJoined",
  "MemberRoleChanged",
  "MemberRemoved",
]);

/** More keys than are in use at a time, or issued while the projections are behind. */
const MOST_OWNERS = 50_000;

/**
 * Reads the documents, or the account's stream when the log follower has seen a newer event of the key or its account;
 * neither for an account that commands keep in memory, while no account changes (commands/account/account-stream.ts).
 * So a new key works immediately, and a deactivated key or one of a closed account is refused as soon as the event has
 * been followed, however far the projections are behind.
 */
export class CallerLookup {
  readonly #deps: CallerLookupDeps;
  /** By key hash. Whose a key is never changes; whether it is active is looked up each time. */
  readonly #owners = new LRUCache<string, KeyOwner>(entriesBound(MOST_OWNERS));
  /** By key id and account id. */
  readonly #minPositions = minVersions<Position>();
  readonly #listeners: ((accountId: string) => void)[] = [];

  constructor(deps: CallerLookupDeps) {
    this.#deps = deps;
  }

  /** `listener`: called when keys of an account may do more or less than before. */
  onChange(listener: (accountId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Called with every followed event, of any process. */
  onEvent({ stream, type, data, position }: FollowedEvent): void {
    if (!stream.startsWith(PREFIX.account)) return;
    const { accountId, keyId, keyHash } = (data ?? {}) as Record<string, unknown>;
    if (typeof accountId !== "string") return;
    const isOfKey = typeof keyId === "string";
    if (OF_ACCOUNTS.has(type)) this.#minPositions.raise(accountId, position);
    if (isOfKey) this.#minPositions.raise(keyId, position);
    if (isOfKey && typeof keyHash === "string") this.#owners.set(keyHash, { accountId, keyId, keyHash });
    if (isOfKey || OF_ACCOUNTS.has(type)) for (const changed of this.#listeners) changed(accountId);
  }

  /**
   * `keyHash`: SHA-256 of the whole key, hex. Undefined for an unknown or deactivated key, a text whose overlap had
   * ended when the key was rotated again, or a closed account; the caller of an expired key is found.
   * @throws StoreUnavailable
   */
  async find(keyHash: string): Promise<KeyCaller | undefined> {
    const { readStore, eventStore, knownAccount } = this.#deps;
    const owner = this.#owners.get(keyHash) ?? (await this.#findOwner(keyHash));
    if (!owner) return undefined;
    const { accountId, keyId } = owner;
    const known = await knownAccount(accountId);
    if (known) return callerOf(owner, known);
    const [key, account] = await Promise.all([
      orNotBuilt(readStore.get<KeyDocument>(keys.collection.name, keyId)),
      orNotBuilt(readStore.get<AccountDocument>(accounts.collection.name, accountId)),
    ]);
    const isCurrent =
      key &&
      account &&
      this.#minPositions.allows(keyId, key._position) &&
      this.#minPositions.allows(accountId, account._position);
    if (!isCurrent) return callerOf(owner, await loadAccount(eventStore, accountId));
    if (key.status !== "active" || account.status !== "open") return undefined;
    const role = roleOfKey(key, (personId) => account.members[personId]?.role);
    return callerBy(owner, account.tier, role, { ...key, status: "active" });
  }

  /** Catches up with the log before an unknown key is refused, because another node may just have issued it. */
  async #findOwner(keyHash: string): Promise<KeyOwner | undefined> {
    const { readStore, catchUp } = this.#deps;
    const finding = readStore.get<KeyTextDocument>(keyTexts.collection.name, keyHash);
    const text = await orNotBuilt(finding);
    if (text) this.#owners.set(keyHash, { accountId: text.accountId, keyId: text.keyId, keyHash });
    else await catchUp();
    const owner = this.#owners.get(keyHash);
    // The log was followed from its start, or else nobody can tell by now that there is no such key.
    if (!owner) await finding;
    return owner;
  }
}

function callerOf(owner: KeyOwner, account: AccountState): KeyCaller | undefined {
  if (account.status !== "open") return undefined;
  const key = account.keys.get(owner.keyId);
  if (key?.status !== "active") return undefined;
  const role = roleOfKey(key, (personId) => account.members.get(personId)?.role);
  return callerBy(owner, account.tier, role, key);
}

function callerBy(
  { accountId, keyId, keyHash }: KeyOwner,
  tier: Tier,
  role: Role | undefined,
  key: AccountKey,
): KeyCaller | undefined {
  if (role === undefined) return undefined;
  const { scopes, networks, earlier = [] } = key;
  const texts = [{ keyHash: key.keyHash, until: key.expiresAt }, ...earlier];
  const text = texts.find(({ keyHash: accepted }) => accepted === keyHash);
  return text && { accountId, tier, role, via: "api", keyId, scopes, networks, expiresAt: text.until };
}
