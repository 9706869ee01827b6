// Whether a custom domain answers, and whose it is: only a verified and active one does (interface, part 3).
import { LRUCache } from "lru-cache";
import type { DomainDocument } from "../projections/domains.ts";
import { domains } from "../projections/domains.ts";
import type { ReadStore } from "../read-store/port.ts";

// Events bring changes within 250 ms; the time to live bounds what a lost one could do.
const KEEP_MS = 5_000;
const KEEP_CLOSED_MS = 1_000;
const MAX_DOMAINS = 10_000;

export class DomainGate {
  readonly #readStore: ReadStore;
  /** Hostname to the account it serves; "" while it serves nobody. */
  readonly #owners = new LRUCache<string, string>({ max: MAX_DOMAINS, ttl: KEEP_MS });

  constructor(readStore: ReadStore) {
    this.#readStore = readStore;
  }

  /** The account that the domain serves, "" for none; undefined when that has to be asked for with `owner`. */
  peek(hostname: string): string | undefined {
    return this.#owners.get(hostname);
  }

  async owner(hostname: string): Promise<string> {
    const known = this.#owners.get(hostname);
    if (known !== undefined) return known;
    const where = { hostname, state: "verified", active: true } as const;
    const [found] = await this.#readStore.find<DomainDocument>(domains.collection.name, { where, limit: 1 });
    const accountId = found?.accountId ?? "";
    this.#owners.set(hostname, accountId, { ttl: accountId === "" ? KEEP_CLOSED_MS : KEEP_MS });
    return accountId;
  }

  /** A link was just made on it, so it serves this account, whatever the documents say yet. */
  open(hostname: string, accountId: string): void {
    this.#owners.set(hostname, accountId);
  }

  close(hostname: string): void {
    this.#owners.set(hostname, "", { ttl: KEEP_CLOSED_MS });
  }

  forget(hostname: string): void {
    this.#owners.delete(hostname);
  }
}
