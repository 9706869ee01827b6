// Whether a custom domain answers, and whose it is: only a verified and active one does (interface, part 3).
import { LRUCache } from "lru-cache";
import { loadAccount } from "../commands/account-stream.ts";
import type { DomainChange } from "../coordination/follow-changes.ts";
import { type EventStore, StoreUnavailable } from "../event-store/port.ts";
import type { DomainDocument } from "../projections/domains.ts";
import { domainsInService } from "../queries/domain-in-service.ts";
import type { ReadStore } from "../read-store/port.ts";

// Events bring changes within 250 ms; the time to live bounds what a lost one could do.
const KEEP_MS = 5_000;
const KEEP_CLOSED_MS = 1_000;
const MAX_DOMAINS = 10_000;

export type DomainGateDeps = { readStore: ReadStore; eventStore: EventStore };

export class DomainGate {
  readonly #deps: DomainGateDeps;
  /** Hostname to the account it serves; "" while it serves nobody. Stale ones stay for when the stores are away. */
  readonly #owners = new LRUCache<string, string>({
    max: MAX_DOMAINS,
    ttl: KEEP_MS,
    noDeleteOnStaleGet: true,
  });
  /** The last event heard of each document; one that is behind it is not believed. */
  readonly #heard = new LRUCache<string, DomainChange>({ max: MAX_DOMAINS });
  /** By hostname: what was heard to serve it and not to have stopped since. */
  readonly #serving = new LRUCache<string, DomainChange>({ max: MAX_DOMAINS });
  readonly #asking = new Map<string, Promise<string>>();

  constructor(deps: DomainGateDeps) {
    this.#deps = deps;
  }

  /** The account that the domain serves, "" for none; undefined when that has to be asked for with `owner`. */
  peek(hostname: string): string | undefined {
    return this.#owners.get(hostname);
  }

  /**
   * `claimedBy`: the account whose link is asked for. While the documents are away its own stream tells, and while
   * that is away too, what was last known.
   * @throws StoreUnavailable
   */
  async owner(hostname: string, claimedBy: string): Promise<string> {
    const known = this.#owners.get(hostname);
    if (known !== undefined) return known;
    const underWay = this.#asking.get(hostname);
    if (underWay) return underWay;
    const asking = this.#ask(hostname, claimedBy).finally(() => this.#asking.delete(hostname));
    this.#asking.set(hostname, asking);
    return asking;
  }

  /** A link was just made on it, so it serves this account, whatever the documents say yet. */
  open(hostname: string, accountId: string): void {
    this.#owners.set(hostname, accountId);
  }

  /** It has just stopped serving; the event that says so is on its way. */
  close(hostname: string): void {
    this.#owners.set(hostname, "", { ttl: KEEP_CLOSED_MS });
  }

  /** An event of any process; those of the same account and hostname may come late, but count in their order. */
  hear(change: DomainChange): void {
    const { hostname, accountId, serves, position } = change;
    const id = documentId(accountId, hostname);
    if ((this.#heard.get(id)?.position ?? "") >= position) return;
    this.#heard.set(id, change);
    const serving = this.#serving.get(hostname);
    if (serves && (serving?.position ?? "") < position) this.#serving.set(hostname, change);
    if (!serves && serving?.accountId === accountId) this.#serving.delete(hostname);
    this.#owners.delete(hostname);
  }

  async #ask(hostname: string, claimedBy: string): Promise<string> {
    try {
      const found = await domainsInService(this.#deps, hostname);
      return this.#keep(hostname, this.#serving.get(hostname)?.accountId ?? this.#firstCurrent(found));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return await this.#withoutDocuments(hostname, claimedBy);
    }
  }

  #firstCurrent(documents: readonly DomainDocument[]): string {
    const isOvertaken = ({ accountId, hostname, _position }: DomainDocument) =>
      _position < (this.#heard.get(documentId(accountId, hostname))?.position ?? "");
    return documents.find((document) => !isOvertaken(document))?.accountId ?? "";
  }

  async #withoutDocuments(hostname: string, claimedBy: string): Promise<string> {
    try {
      const account = await loadAccount(this.#deps.eventStore, claimedBy);
      const isServed = account.status === "open" && account.domains.get(hostname)?.state === "active";
      // That it isn't this account's is no reason to keep another's links from working.
      return isServed ? this.#keep(hostname, claimedBy) : "";
    } catch (error) {
      const lastKnown = this.#owners.get(hostname, { allowStale: true });
      if (lastKnown === undefined || !(error instanceof StoreUnavailable)) throw error;
      return this.#keep(hostname, lastKnown);
    }
  }

  #keep(hostname: string, owner: string): string {
    this.#owners.set(hostname, owner, { ttl: owner === "" ? KEEP_CLOSED_MS : KEEP_MS });
    return owner;
  }
}

function documentId(accountId: string, hostname: string): string {
  return `${accountId}/${hostname}`;
}
