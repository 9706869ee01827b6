// Whose key is this? Asked on every authenticated request, and never answered from before the last change.
import { LRUCache } from "lru-cache";
import { loadAccount } from "../commands/account/account-stream.ts";
import type { Caller } from "../commands/caller.ts";
import type { FollowedEvent } from "../coordination/log-follower.ts";
import { minPositions } from "../coordination/min-positions.ts";
import type { EventStore } from "../event-store/port.ts";
import { PREFIX } from "../events/streams.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type KeyDocument, keys } from "../projections/definitions/keys.ts";
import type { ReadStore } from "../read-store/port.ts";

export type KeyCaller = Caller & { keyId: string };

export type CallerLookupDeps = {
  readStore: ReadStore;
  eventStore: EventStore;
  /** Settles when every event appended so far, by any process, was given to `onEvent`. */
  catchUp: () => Promise<void>;
};

type KeyOwner = { accountId: string; keyId: string };

/** More than are issued while documents are late. */
const MOST_ISSUED = 10_000;

/**
 * By the documents, unless the log has told something newer of the key or its account: then by the account's own stream.
 * So a key works the moment it is shown and is refused as soon as its deactivation, or the closing of its account, was
 * followed, however late the documents are.
 */
export class CallerLookup {
  readonly #deps: CallerLookupDeps;
  /** By key hash: keys that the documents may not show yet. */
  readonly #issued = new LRUCache<string, KeyOwner>({ max: MOST_ISSUED });
  /** Of keys and accounts, by their ids. */
  readonly #least = minPositions();

  constructor(deps: CallerLookupDeps) {
    this.#deps = deps;
  }

  /** An event of any process. */
  onEvent({ stream, type, data, position }: FollowedEvent): void {
    if (!stream.startsWith(PREFIX.account)) return;
    const { accountId, keyId, keyHash } = (data ?? {}) as Record<string, unknown>;
    if (typeof accountId !== "string") return;
    if (type === "TierChanged" || type === "AccountClosed") this.#least.raise(accountId, position);
    if (typeof keyId !== "string") return;
    this.#least.raise(keyId, position);
    if (type === "KeyIssued" && typeof keyHash === "string") this.#issued.set(keyHash, { accountId, keyId });
  }

  /**
   * `keyHash`: SHA-256 of the whole key, hex. Undefined for an unknown or deactivated key or a closed account.
   * @throws StoreUnavailable
   */
  async find(keyHash: string): Promise<KeyCaller | undefined> {
    const { readStore } = this.#deps;
    const [key] = await readStore.find<KeyDocument>(keys.collection.name, { where: { keyHash }, limit: 1 });
    if (!key) return await this.#issuedLately(keyHash);
    const { accountId, _id: keyId } = key;
    const account = await readStore.get<AccountDocument>(accounts.collection.name, accountId);
    const isCurrent =
      account && this.#least.allows(keyId, key._position) && this.#least.allows(accountId, account._position);
    if (!isCurrent) return await this.#fromStream({ accountId, keyId });
    if (key.status !== "active" || account.status !== "open") return undefined;
    return { accountId, tier: account.tier, via: "api", keyId };
  }

  /** It may have been issued a moment ago at another node: the log is caught up with before a key is refused. */
  async #issuedLately(keyHash: string): Promise<KeyCaller | undefined> {
    if (!this.#issued.has(keyHash)) await this.#deps.catchUp();
    const owner = this.#issued.get(keyHash);
    return owner && (await this.#fromStream(owner));
  }

  async #fromStream({ accountId, keyId }: KeyOwner): Promise<KeyCaller | undefined> {
    const account = await loadAccount(this.#deps.eventStore, accountId);
    if (account.status !== "open" || account.keys.get(keyId) !== "active") return undefined;
    return { accountId, tier: account.tier, via: "api", keyId };
  }
}
