// Decides whether a custom domain serves an account's links: only while that account owns it, verified and active.
import { LRUCache } from "lru-cache";
import { loadAccount } from "../../commands/account/account-stream.ts";
import { type DomainDocument, domains, isInService } from "../../projections/definitions/domains.ts";
import { shareCalls } from "../../runtime/share-calls.ts";
import { orUndefined, StoreUnavailable } from "../../stores/connections/errors.ts";
import { minVersions } from "../../stores/coordination/min-versions.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

export type DomainRoutingDeps = {
  readStore: Pick<ReadStore, "get">;
  eventStore: EventStore;
  /** Whether values read now may be cached, because the event subscription will invalidate them (log-follower.ts). */
  isFollowing: () => boolean;
};

/** Time to live of cached answers; only a backstop, because events invalidate them. */
const TTL_MS = 60_000;
const MAX_DOMAINS = 10_000;

/**
 * The cache key is account and hostname, so that events of one account cannot affect the domain of another. Negative
 * answers are not cached: they would hide an activation by another process until its event arrives here.
 */
export class DomainRouting {
  readonly #deps: DomainRoutingDeps;
  /** Expired entries are kept as the last known answer while the stores are unavailable. */
  readonly #serving = new LRUCache<string, true>({
    max: MAX_DOMAINS,
    ttl: TTL_MS,
    noDeleteOnStaleGet: true,
  });
  readonly #minPositions = minVersions<Position>();
  /** Counts invalidations, so that an answer which was read before one is not cached after it. */
  #invalidations = 0;
  readonly #lookup = shareCalls((id: string) => this.#load(id));

  constructor(deps: DomainRoutingDeps) {
    this.#deps = deps;
  }

  /** True when the cache says that the domain serves; false means that only `serves` can tell. */
  isServing(accountId: string, hostname: string): boolean {
    return this.#serving.get(idOf(accountId, hostname)) === true;
  }

  /**
   * Whether the hostname serves the account's links. Falls back to the account's stream while the documents are
   * unavailable or lag behind the log, and to the last known answer while the event store is unavailable too.
   * @throws StoreUnavailable
   */
  async serves(accountId: string, hostname: string): Promise<boolean> {
    return this.isServing(accountId, hostname) || (await this.#lookup(idOf(accountId, hostname)));
  }

  /** Removes the cached answer after an event at `position` about the account's domain. */
  invalidate(accountId: string, hostname: string, position: Position): void {
    const id = idOf(accountId, hostname);
    this.#invalidations += 1;
    this.#minPositions.raise(id, position);
    this.#serving.delete(id);
  }

  async #load(id: string): Promise<boolean> {
    const mayCache = this.#deps.isFollowing();
    const invalidations = this.#invalidations;
    const isServed = await this.#read(id);
    if (isServed && mayCache && invalidations === this.#invalidations) this.#serving.set(id, true);
    return isServed;
  }

  async #read(id: string): Promise<boolean> {
    const { eventStore, readStore } = this.#deps;
    const document = await orUndefined(readStore.get<DomainDocument>(domains.collection.name, id));
    const isCurrent = document && this.#minPositions.allows(id, document._position);
    if (isCurrent && isInService(document)) return true;
    // The document may lag behind the log, so a negative answer is checked against the account's stream.
    const [accountId = "", hostname = ""] = id.split("/");
    try {
      const account = await loadAccount(eventStore, accountId);
      return account.status === "open" && account.domains.get(hostname)?.state === "active";
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (isCurrent) return false;
      if (this.#serving.get(id, { allowStale: true })) return true;
      throw error;
    }
  }
}

/** The id of the domain's document, which is also the cache key. */
function idOf(accountId: string, hostname: string): string {
  return `${accountId}/${hostname}`;
}
