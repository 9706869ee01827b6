// Resolves host and slug to a link: in-process cache, then read store, then the link's own stream.
import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { SLUG } from "../../commands/links/slug.ts";
import { CATEGORY, linkKey, PREFIX } from "../../events/streams.ts";
import { type AccountDocument, accounts } from "../../projections/definitions/accounts.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { lifecycle } from "../../projections/groups.ts";
import { linkFromStream } from "../../queries/links/find-link.ts";
import { entriesBound } from "../../runtime/entries-bound.ts";
import { OutageBreaker } from "../../runtime/outage-breaker.ts";
import { shareCalls } from "../../runtime/share-calls.ts";
import { orUndefined, StoreUnavailable } from "../../stores/connections/errors.ts";
import type { FollowedEvent } from "../../stores/coordination/log-follower.ts";
import { minVersions } from "../../stores/coordination/min-versions.ts";
import { type EventStore, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { DomainRouting } from "./domain-routing.ts";
import { bytesOf, type LinkEntry, linkEntry, type RedirectedLink } from "./link-entry.ts";

export type LookupDeps = {
  eventStore: EventStore;
  readStore: Pick<ReadStore, "get" | "checkpoint">;
  baseHost: string;
  /** Whether values read now may be cached, because the event subscription will invalidate them (log-follower.ts). */
  isFollowing: () => boolean;
  /** [0, 1), by which links live longer or shorter. */
  random: () => number;
};

/** Time to live, counted from the read; only a backstop, because events invalidate entries (log-follower.ts). */
const TTL_MS = 60_000;
/** Links live for 30 to 60 seconds: those that were read together, as after a start, are not all read again together. */
const TTL_SPREAD = 0.5;
/** The cache reads the clock once a second instead of at each redirect. */
const TTL_RESOLUTION_MS = 1_000;
/** Of the links kept in memory: some 45,000 links. */
const MAX_BYTES = 32 * 1024 * 1024;
const MOST_ACCOUNTS = 100_000;

export class LinkLookup {
  readonly domains: DomainRouting;
  readonly #deps: LookupDeps;
  /** Expired entries are kept as the last known state while the stores are unavailable. */
  readonly #entries: LRUCache<string, LinkEntry>;
  /** Newest revision of each link that an event showed; older documents are ignored. */
  readonly #minRevisions = minVersions<number>();
  /** Never evicted, because an account is never reopened; holds those closed or looked up since the start. */
  readonly #closedAccounts = new Set<string>();
  readonly #openAccounts = new LRUCache<string, true>({ ...entriesBound(MOST_ACCOUNTS), ttl: TTL_MS });
  readonly #lookup = shareCalls((key: string) => this.#loadOrLastKnown(key));
  readonly #areComplete = shareCalls((category: string) => this.#documentsHoldAll(category));
  readonly #streams = new OutageBreaker();

  constructor(deps: LookupDeps) {
    this.#deps = deps;
    this.domains = new DomainRouting(deps);
    this.#entries = new LRUCache({
      maxSize: MAX_BYTES,
      sizeCalculation: bytesOf,
      ttlResolution: TTL_RESOLUTION_MS,
      noDeleteOnStaleGet: true,
    });
  }

  /** Fast path: a cached entry whose domain is known to serve; undefined means that only `find` can tell. */
  peek(host: string, slug: string): LinkEntry | undefined {
    const entry = this.#entries.get(`${host}/${slug}`) ?? this.#entries.get(linkKey(host, slug));
    if (entry === undefined) return undefined;
    const { accountId } = entry;
    if (this.#closedAccounts.has(accountId)) return undefined;
    if (entry.host === this.#deps.baseHost) return entry;
    return this.domains.isServing(accountId, entry.host) ? entry : undefined;
  }

  /**
   * The link, whatever its status; undefined when there is none, its account is closed, or its domain does not serve
   * its account. Absence is not cached, so that a link is found as soon as any process has answered 201 for it.
   * @throws StoreUnavailable
   */
  async find(host: string, slug: string): Promise<LinkEntry | undefined> {
    if (host === "" || !SLUG.test(slug)) return undefined;
    const key = linkKey(host, slug);
    const entry = this.#entries.get(key) ?? (await this.#lookup(key));
    if (entry === undefined || this.#closedAccounts.has(entry.accountId)) return undefined;
    if (host === this.#deps.baseHost) return entry;
    return (await this.domains.serves(entry.accountId, host)) ? entry : undefined;
  }

  /** Invalidates what the event changes; called for the events of all processes. */
  onEvent({ stream, type, data, revision, position }: FollowedEvent): void {
    if (stream.startsWith(PREFIX.link)) this.#invalidate(stream.slice(PREFIX.link.length), revision);
    if (!stream.startsWith(PREFIX.account)) return;
    const { accountId, hostname } = (data ?? {}) as Record<string, unknown>;
    if (typeof accountId !== "string") return;
    if (type === "AccountClosed") this.#closedAccounts.add(accountId);
    if (typeof hostname === "string") this.domains.invalidate(accountId, hostname, position);
  }

  #invalidate(key: string, revision: number): void {
    this.#minRevisions.raise(key, revision);
    const cached = this.#entries.peek(key, { allowStale: true });
    if (cached !== undefined && cached.revision < revision) this.#entries.delete(key);
  }

  /** An expired entry is still the newest state that the event subscription has shown, or it would be gone. */
  async #loadOrLastKnown(key: string): Promise<LinkEntry | undefined> {
    try {
      return await this.#load(key);
    } catch (error) {
      const lastKnown = this.#entries.get(key, { allowStale: true });
      if (lastKnown === undefined || !(error instanceof StoreUnavailable)) throw error;
      return lastKnown;
    }
  }

  async #load(key: string): Promise<LinkEntry | undefined> {
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    const mayCache = this.#deps.isFollowing();
    const { document, isComplete } = await this.#linkDocument(key);
    const isCurrent = this.#minRevisions.allows(key, document?.revision ?? -1);
    // As many requests for unknown links come without a pause, a call that can find nothing is worth avoiding.
    if (document === undefined && isComplete && isCurrent) return undefined;
    const link = document && isCurrent ? document : await this.#fromStream(key);
    if (link === undefined || (await this.#isClosed(link.accountId, mayCache))) return undefined;
    const entry = linkEntry(link);
    const ttl = TTL_MS * (1 - TTL_SPREAD * this.#deps.random());
    if (mayCache && this.#minRevisions.allows(key, link.revision)) this.#entries.set(key, entry, { ttl });
    return entry;
  }

  /** `isComplete`: the documents hold every link that any process has made by now. */
  async #linkDocument(key: string): Promise<{ document: LinkDocument | undefined; isComplete: boolean }> {
    const read = async () => {
      // Before the document: what is committed later may have been missing from it.
      const isComplete = await this.#areComplete(CATEGORY.link);
      const document = await this.#deps.readStore.get<LinkDocument>(links.collection.name, key);
      return { document, isComplete };
    };
    return (await orUndefined(read())) ?? { document: undefined, isComplete: false };
  }

  /** Whether the documents hold every event of the category by now; not known, and so false, for a remote log. */
  async #documentsHoldAll(category: string): Promise<boolean> {
    const { eventStore, readStore } = this.#deps;
    const newest = await eventStore.newestOf?.(category);
    if (newest === undefined) return false;
    const folded = await readStore.checkpoint(lifecycle.name);
    // Look-ups of the same turn of the event loop share the next answer: a flood of unknown slugs asks once a turn.
    await nextTurn();
    return (folded?.position ?? START) >= newest;
  }

  async #fromStream(key: string): Promise<RedirectedLink | undefined> {
    if (!this.#streams.admits()) throw new StoreUnavailable("The event store is unavailable");
    try {
      const link = await linkFromStream(this.#deps.eventStore, key);
      this.#streams.succeeded();
      return link;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#streams.failed();
      throw error;
    }
  }

  /** A closed account's links stop immediately, before each is deleted. An account without a document was just opened. */
  async #isClosed(accountId: string, mayCache: boolean): Promise<boolean> {
    if (this.#closedAccounts.has(accountId)) return true;
    if (this.#openAccounts.has(accountId)) return false;
    const { readStore } = this.#deps;
    const document = await orUndefined(readStore.get<AccountDocument>(accounts.collection.name, accountId));
    if (document?.status === "closed") this.#closedAccounts.add(accountId);
    else if (document && mayCache) this.#openAccounts.set(accountId, true);
    return this.#closedAccounts.has(accountId);
  }
}
