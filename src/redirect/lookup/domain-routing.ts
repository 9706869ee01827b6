// Whether a custom domain serves an account's links now: only the account's own, verified and active one does.
import { LRUCache } from "lru-cache";
import { loadAccount } from "../../commands/account/account-stream.ts";
import { minPositions } from "../../coordination/min-positions.ts";
import { type EventStore, type Position, StoreUnavailable } from "../../event-store/port.ts";
import { type DomainDocument, domains } from "../../projections/definitions/domains.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { shareCalls } from "../../runtime/share-calls.ts";

export type DomainRoutingDeps = {
  readStore: Pick<ReadStore, "get">;
  eventStore: EventStore;
  /** Whether what is read now may be kept (log-follower.ts). */
  isFollowing: () => boolean;
};

/** Backstop only: events end what they change. */
const KEEP_MS = 60_000;
const MAX_DOMAINS = 10_000;

/**
 * By account and hostname, never by hostname alone: what one account does with a name that is another's changes nothing
 * for the other. That a domain does not serve is not kept: who activates it elsewhere could not end that.
 */
export class DomainRouting {
  readonly #deps: DomainRoutingDeps;
  /** Stale ones stay for when the stores are unavailable. */
  readonly #serving = new LRUCache<string, true>({
    max: MAX_DOMAINS,
    ttl: KEEP_MS,
    noDeleteOnStaleGet: true,
  });
  readonly #least = minPositions();
  /** How many events of domains were followed, so that an answer from before one isn't kept after it. */
  #events = 0;
  readonly #look = shareCalls((id: string) => this.#ask(id));

  constructor(deps: DomainRoutingDeps) {
    this.#deps = deps;
  }

  /** True when it is certain without waiting that it serves; otherwise `serves` has to be asked. */
  isServing(accountId: string, hostname: string): boolean {
    return this.#serving.get(idOf(accountId, hostname)) === true;
  }

  /**
   * Whether the hostname serves the account's links. While the documents are unavailable, or behind the log, the
   * account's own stream tells; while that is unavailable too, what was last known.
   * @throws StoreUnavailable
   */
  async serves(accountId: string, hostname: string): Promise<boolean> {
    return this.isServing(accountId, hostname) || (await this.#look(idOf(accountId, hostname)));
  }

  /** An event about the account's domain. */
  invalidate(accountId: string, hostname: string, position: Position): void {
    const id = idOf(accountId, hostname);
    this.#events += 1;
    this.#least.raise(id, position);
    this.#serving.delete(id);
  }

  async #ask(id: string): Promise<boolean> {
    const mayKeep = this.#deps.isFollowing();
    const events = this.#events;
    const isServed = await this.#read(id);
    if (isServed && mayKeep && events === this.#events) this.#serving.set(id, true);
    return isServed;
  }

  async #read(id: string): Promise<boolean> {
    const document = await this.#document(id);
    if (document && this.#least.allows(id, document._position) && isInService(document)) return true;
    // A document that says no may be a moment behind.
    const [accountId = "", hostname = ""] = id.split("/");
    try {
      const account = await loadAccount(this.#deps.eventStore, accountId);
      return account.status === "open" && account.domains.get(hostname)?.state === "active";
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (document) return false;
      if (this.#serving.get(id, { allowStale: true })) return true;
      throw error;
    }
  }

  async #document(id: string): Promise<DomainDocument | undefined> {
    try {
      return await this.#deps.readStore.get<DomainDocument>(domains.collection.name, id);
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }
}

function isInService({ state, active }: DomainDocument): boolean {
  return state === "verified" && active;
}

/** As the documents' ids. */
function idOf(accountId: string, hostname: string): string {
  return `${accountId}/${hostname}`;
}
