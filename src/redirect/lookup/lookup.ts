// From host and slug to a link: in-process cache, read store, the link's own stream (DESIGN §5).
import { LRUCache } from "lru-cache";
import type { FollowedEvent } from "../../coordination/log-follower.ts";
import { type EventStore, StoreUnavailable } from "../../event-store/port.ts";
import { linkKey, PREFIX } from "../../events/streams.ts";
import { type AccountDocument, accounts } from "../../projections/definitions/accounts.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { linkFromStream } from "../../queries/links/link-from-stream.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import { OutageBreaker } from "../../runtime/outage-breaker.ts";
import { shareCalls } from "../../runtime/share-calls.ts";
import { DomainRouting } from "./domain-routing.ts";
import { type LinkEntry, linkEntry, type RedirectedLink } from "./link-entry.ts";

export type LookupDeps = {
  eventStore: EventStore;
  readStore: Pick<ReadStore, "get">;
  baseHost: string;
  /** Whether what is read now may be kept (log-follower.ts). */
  isFollowing: () => boolean;
  /** Most links kept in memory; default 100,000. */
  maxEntries?: number;
};

/** Backstop only: events end what they change (log-follower.ts). From when it was read, however often it is asked for. */
const KEEP_MS = 60_000;
/** So that the time is asked for once a second, not at each redirect. */
const TTL_RESOLUTION_MS = 1_000;
const MOST_ACCOUNTS = 100_000;
/** While the event store is away, one look a second finds out, the others fail at once. */
const OUTAGE_PAUSE_MS = 1_000;
/** Slugs have 1 to 50 of these; anything else is answered without a look (interface, part 4: custom slug rules). */
const SLUG = /^[A-Za-z0-9_-]{1,50}$/;

export class LinkLookup {
  readonly domains: DomainRouting;
  readonly #deps: LookupDeps;
  /** Stale ones stay for when the stores are unavailable. */
  readonly #entries: LRUCache<string, LinkEntry>;
  /** Revisions known to exist: a document that is behind is not believed. */
  readonly #minRevisions = new LRUCache<string, number>({ max: 100_000 });
  /** For good, so for as long as the process lives: as many as were closed since it started, or asked for. */
  readonly #closedAccounts = new Set<string>();
  readonly #openAccounts = new LRUCache<string, true>({ max: MOST_ACCOUNTS, ttl: KEEP_MS });
  readonly #look = shareCalls((key: string) => this.#loadOrLastKnown(key));
  readonly #streams = new OutageBreaker({ clock: () => performance.now(), openMs: OUTAGE_PAUSE_MS });

  constructor(deps: LookupDeps) {
    this.#deps = deps;
    this.domains = new DomainRouting(deps);
    this.#entries = new LRUCache({
      max: deps.maxEntries ?? 100_000,
      ttl: KEEP_MS,
      ttlResolution: TTL_RESOLUTION_MS,
      noDeleteOnStaleGet: true,
    });
  }

  /** What is certain without waiting: an entry whose host answers now; undefined means `find` has to be asked. */
  peek(host: string, slug: string): LinkEntry | undefined {
    const entry = this.#entries.get(`${host}/${slug}`) ?? this.#entries.get(linkKey(host, slug));
    if (entry === undefined) return undefined;
    const { accountId } = entry.target;
    if (this.#closedAccounts.has(accountId)) return undefined;
    if (entry.host === this.#deps.baseHost) return entry;
    return this.domains.isServing(accountId, entry.host) ? entry : undefined;
  }

  /**
   * The link, whatever its status; undefined when there is none, its account is closed, or its domain doesn't serve its
   * account now. No absence is kept, so a link is found here the moment its 201 was sent anywhere.
   * @throws what the stores throw when they are away
   */
  async find(host: string, slug: string): Promise<LinkEntry | undefined> {
    if (host === "" || !SLUG.test(slug)) return undefined;
    const key = linkKey(host, slug);
    const entry = this.#entries.get(key) ?? (await this.#look(key));
    if (entry === undefined || this.#closedAccounts.has(entry.target.accountId)) return undefined;
    if (host === this.#deps.baseHost) return entry;
    return (await this.domains.serves(entry.target.accountId, host)) ? entry : undefined;
  }

  /** An event of any process. */
  onEvent({ stream, type, data, revision, position }: FollowedEvent): void {
    if (stream.startsWith(PREFIX.link)) this.#invalidate(stream.slice(PREFIX.link.length), revision);
    if (!stream.startsWith(PREFIX.account)) return;
    const { accountId, hostname } = (data ?? {}) as Record<string, unknown>;
    if (typeof accountId !== "string") return;
    if (type === "AccountClosed") this.#closedAccounts.add(accountId);
    if (typeof hostname === "string") this.domains.invalidate(accountId, hostname, position);
  }

  #invalidate(key: string, revision: number): void {
    if (revision > (this.#minRevisions.get(key) ?? -1)) this.#minRevisions.set(key, revision);
    const known = this.#entries.peek(key, { allowStale: true });
    if (known !== undefined && known.target.revision < revision) this.#entries.delete(key);
  }

  /** What is stale was not changed as far as the log was followed. */
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
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const mayKeep = this.#deps.isFollowing();
    const link = (await this.#fromDocument(key)) ?? (await this.#fromStream(key));
    if (link === undefined || (await this.#isClosed(link.accountId, mayKeep))) return undefined;
    const entry = linkEntry(link);
    if (mayKeep && this.#isCurrent(key, link)) this.#entries.set(key, entry);
    return entry;
  }

  #isCurrent(key: string, link: RedirectedLink): boolean {
    return link.revision >= (this.#minRevisions.get(key) ?? -1);
  }

  async #fromDocument(key: string): Promise<RedirectedLink | undefined> {
    const document = await this.#document<LinkDocument>(links.collection.name, key);
    return document && this.#isCurrent(key, document) ? document : undefined;
  }

  async #fromStream(key: string): Promise<RedirectedLink | undefined> {
    if (!this.#streams.admits()) throw new StoreUnavailable("The event store is away");
    try {
      const link = await linkFromStream(this.#deps.eventStore, key);
      this.#streams.succeeded();
      return link;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#streams.failed();
      throw error;
    }
  }

  /** Its links end with the account, long before each is deleted. Who isn't in the documents yet has just been opened. */
  async #isClosed(accountId: string, mayKeep: boolean): Promise<boolean> {
    if (this.#closedAccounts.has(accountId)) return true;
    if (this.#openAccounts.has(accountId)) return false;
    const document = await this.#document<AccountDocument>(accounts.collection.name, accountId);
    if (document?.status === "closed") this.#closedAccounts.add(accountId);
    else if (document && mayKeep) this.#openAccounts.set(accountId, true);
    return this.#closedAccounts.has(accountId);
  }

  /** Nothing while the read store is away: the stream knows as well. */
  async #document<D extends Document>(collection: string, id: string): Promise<D | undefined> {
    try {
      return await this.#deps.readStore.get<D>(collection, id);
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }
}
