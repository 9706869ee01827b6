// From host and slug to a link: in-process cache, shared cache, read store, the link's own stream (DESIGN §5).
import { LRUCache } from "lru-cache";
import { type EventStore, StoreUnavailable } from "../event-store/port.ts";
import { streamPages } from "../event-store/stream-pages.ts";
import { readEvent } from "../events/read-event.ts";
import { linkKey, linkStream } from "../events/streams.ts";
import { OutageBreaker } from "../outage-breaker.ts";
import { type LinkDocument, links } from "../projections/links.ts";
import type { Fields } from "../projections/projection.ts";
import type { ReadStore } from "../read-store/port.ts";
import { DomainGate } from "./domain-gate.ts";
import { type LinkEntry, type LinkFacts, linkEntry } from "./link-entry.ts";
import type { SharedLinks } from "./shared-links.ts";

export type LookupDeps = {
  eventStore: EventStore;
  readStore: ReadStore;
  baseHost: string;
  /** Between this process's memory and the read store; none on the embedded default. */
  shared?: SharedLinks | undefined;
  /** Most links kept in memory; default 100,000. */
  maxEntries?: number;
};

/** Short, so that a scan of slugs costs little and a link made elsewhere works at once. */
const NEGATIVE_MS = 1_000;
/** While the event store is away, one look a second finds out, the others fail at once. */
const OUTAGE_PAUSE_MS = 1_000;
/** Slugs have 1 to 50 of these; anything else is answered without a look (interface, part 4: custom slug rules). */
const SLUG = /^[A-Za-z0-9_-]{1,50}$/;

export class LinkLookup {
  readonly domains: DomainGate;
  readonly #deps: LookupDeps;
  readonly #entries: LRUCache<string, LinkEntry>;
  readonly #absent = new LRUCache<string, true>({ max: 50_000, ttl: NEGATIVE_MS });
  /** Revisions known to exist: a document that is behind its link's floor is not believed. */
  readonly #floors = new LRUCache<string, number>({ max: 100_000 });
  readonly #loading = new Map<string, Promise<LinkEntry | undefined>>();
  readonly #streams = new OutageBreaker({ clock: () => performance.now(), openMs: OUTAGE_PAUSE_MS });

  constructor(deps: LookupDeps) {
    this.#deps = deps;
    this.domains = new DomainGate(deps);
    this.#entries = new LRUCache({ max: deps.maxEntries ?? 100_000 });
  }

  /** What is certain without waiting: an entry whose host answers now; undefined means `find` has to be asked. */
  peek(host: string, slug: string): LinkEntry | undefined {
    const entry = this.#entries.get(`${host}/${slug}`) ?? this.#entries.get(linkKey(host, slug));
    if (entry === undefined || entry.host === this.#deps.baseHost) return entry;
    return this.domains.peek(entry.host) === entry.target.accountId ? entry : undefined;
  }

  /**
   * The link, whatever its status; undefined when there is none, or its domain doesn't serve its account now.
   * @throws what the stores throw when they are away
   */
  async find(host: string, slug: string): Promise<LinkEntry | undefined> {
    if (host === "" || !SLUG.test(slug)) return undefined;
    const entry = await this.#load(host, slug.toLowerCase());
    if (entry === undefined || host === this.#deps.baseHost) return entry;
    return (await this.domains.owner(host, entry.target.accountId)) === entry.target.accountId
      ? entry
      : undefined;
  }

  /** A link as it is now, from a command of this process or an event of another; never replaces a newer one. */
  prime(link: LinkFacts): void {
    const entry = linkEntry(link);
    const { key } = entry.target;
    this.#absent.delete(key);
    this.#raiseFloor(key, link.revision);
    if ((this.#floors.get(key) ?? 0) > link.revision) return;
    const known = this.#entries.peek(key);
    if (known === undefined || known.target.revision <= link.revision) this.#entries.set(key, entry);
    // Only a domain in service gets new links.
    if (link.revision === 0 && link.host !== this.#deps.baseHost)
      this.domains.open(link.host, link.accountId);
  }

  /** Something happened to a link: what is older than `revision` is no longer answered. */
  outdate(key: string, revision: number): void {
    this.#absent.delete(key);
    this.#raiseFloor(key, revision);
    const known = this.#entries.peek(key);
    if (known !== undefined && known.target.revision < revision) this.#entries.delete(key);
  }

  #raiseFloor(key: string, revision: number): void {
    if (revision > (this.#floors.get(key) ?? 0)) this.#floors.set(key, revision);
  }

  /** Requests for the same link share one look. */
  #load(host: string, slug: string): Promise<LinkEntry | undefined> {
    const key = linkKey(host, slug);
    const known = this.#entries.get(key);
    if (known !== undefined) return Promise.resolve(known);
    if (this.#absent.has(key)) return Promise.resolve(undefined);
    const underWay = this.#loading.get(key);
    if (underWay !== undefined) return underWay;
    const load = this.#loadFresh(key, host, slug).finally(() => this.#loading.delete(key));
    this.#loading.set(key, load);
    return load;
  }

  async #loadFresh(key: string, host: string, slug: string): Promise<LinkEntry | undefined> {
    const shared = await this.#fromShared(key);
    const link = shared ?? (await this.#fromDocument(key)) ?? (await this.#fromStream(host, slug));
    const newer = this.#entries.peek(key);
    if (link === undefined) {
      if (newer === undefined) this.#absent.set(key, true);
      return newer;
    }
    if (newer !== undefined && newer.target.revision >= link.revision) return newer;
    const entry = linkEntry(link);
    if (!this.#isCurrent(key, link)) return entry;
    this.#entries.set(key, entry);
    if (shared === undefined) this.#deps.shared?.put(key, link);
    return entry;
  }

  #isCurrent(key: string, link: LinkFacts): boolean {
    return link.revision >= (this.#floors.get(key) ?? 0);
  }

  async #fromShared(key: string): Promise<LinkFacts | undefined> {
    const link = await this.#deps.shared?.get(key);
    return link && this.#isCurrent(key, link) ? link : undefined;
  }

  /** Nothing while the read store is away: the stream knows as well. */
  async #fromDocument(key: string): Promise<LinkFacts | undefined> {
    try {
      const document = await this.#deps.readStore.get<LinkDocument>(links.collection.name, key);
      return document && this.#isCurrent(key, document) ? document : undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  /** Folds with the projection's own fold, so that both ways give the same link. */
  async #fromStream(host: string, slug: string): Promise<LinkFacts | undefined> {
    if (!this.#streams.admits()) throw new StoreUnavailable("The event store is away");
    let link: Fields<LinkDocument> | undefined;
    try {
      for await (const page of streamPages(this.#deps.eventStore, linkStream(host, slug))) {
        for (const recorded of page) {
          const event = readEvent(recorded);
          if (event) link = links.evolve(link ?? links.empty(event), event);
        }
      }
      this.#streams.succeeded();
      return link;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#streams.failed();
      throw error;
    }
  }
}
