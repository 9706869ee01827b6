// Lists of links by what visitors meet, against a plain reading of the same links: pages, cursors and totals, at several moments.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LinkEvent } from "../../src/events/catalogue.ts";
import type { LinkOptions } from "../../src/events/link-options.ts";
import { LINK_STATUSES, type LinkStatus } from "../../src/events/links/link-status.ts";
import { accountLinks, countAccountLinks, listLinks } from "../../src/queries/links/list-links.ts";
import { AT, DOMAIN, KEY, linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { isLong } from "../support/runtime/effort.ts";
import { append, type Stores } from "../support/runtime/stores.ts";

const HOSTS = {
  base: "sho.rt",
  active: "on.example",
  inactive: "off.example",
  former: "was.example",
} as const;
const MOMENTS = ["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01"].map(
  (day) => `${day}T00:00:00.000Z`,
);
const FILTERS = [{}, { tag: "tagged" }, { q: "STRASSE NR1" }];
const RUNS = isLong ? 5 : 2;

type Wanted = {
  host: keyof typeof HOSTS;
  activeFrom: number;
  expiresAt: number;
  maxClicks: number;
  clicks: number;
  isDisabled: boolean;
  isBlocked: boolean;
  isDeleted: boolean;
  isTagged: boolean;
};

const rarely = fc.integer({ min: 0, max: 7 }).map((n) => n === 0);
const wanted: fc.Arbitrary<Wanted> = fc.record({
  host: fc.constantFrom<keyof typeof HOSTS>("base", "base", "base", "active", "inactive", "former"),
  // An index of MOMENTS; beyond them there is no such time.
  activeFrom: fc.integer({ min: 0, max: 7 }),
  expiresAt: fc.integer({ min: 0, max: 7 }),
  maxClicks: fc.integer({ min: 0, max: 4 }),
  clicks: fc.integer({ min: 0, max: 3 }),
  ...{ isDisabled: rarely, isBlocked: rarely, isDeleted: rarely, isTagged: fc.boolean() },
});

/** Said plainly, in the order in which a redirect decides. */
function plainStatus(link: Wanted, moment: number): LinkStatus {
  if (link.isDeleted) return "deleted";
  if (link.host === "inactive" || link.host === "former") return "domain_inactive";
  if (link.isBlocked) return "blocked";
  if (link.isDisabled) return "disabled";
  if (link.activeFrom < MOMENTS.length && moment < link.activeFrom) return "scheduled";
  if (link.expiresAt < MOMENTS.length && moment >= link.expiresAt) return "expired";
  return link.maxClicks > 0 && link.clicks >= link.maxClicks ? "used_up" : "live";
}

let stores: Stores;

/** `open`: empty stores, with the read store of the adapter. */
export function linkStatusesContract(name: string, open: () => Promise<Stores>) {
  describe(`links by what visitors meet: ${name}`, { timeout: 300_000 }, () => {
    beforeEach(async () => {
      stores = await open();
    });
    afterEach(async () => await stores.close());

    it("are listed whole, in order and with their number, at each moment, searched and filtered too", async () => {
      let run = 0;
      const made = fc.array(wanted, { minLength: 1, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(made, async (all) => {
          run += 1;
          const accountId = `7a6f3c1e-52b1-4f0e-9a54-${String(run).padStart(12, "0")}`;
          await makeAll(accountId, all);
          for (const moment of MOMENTS.keys()) await compare(accountId, all, moment);
        }),
        { numRuns: RUNS },
      );
    });
  });
}

function slugOf(accountId: string, n: number): string {
  return `l${accountId.slice(-4)}-${String(n).padStart(3, "0")}`;
}

async function makeAll(accountId: string, all: readonly Wanted[]): Promise<void> {
  const { eventStore } = stores;
  const domainOf = (hostname: string) => ({ accountId, hostname, at: AT });
  const verified = (hostname: string, domainId: string) =>
    [
      { type: "DomainAdded", data: { ...domainOf(hostname), token: "t" } },
      { type: "DomainVerified", data: { ...domainOf(hostname), domainId, how: "dns" } },
      { type: "DomainActivated", data: { ...domainOf(hostname), domainId } },
    ] as const;
  await append(eventStore, `account-${accountId}`, [
    ...verified(HOSTS.active, DOMAIN),
    ...verified(HOSTS.inactive, KEY),
    { type: "DomainDeactivated", data: { ...domainOf(HOSTS.inactive), domainId: KEY } },
  ]);
  for (const [n, link] of all.entries()) {
    const host = HOSTS[link.host];
    const of = { host, slug: slugOf(accountId, n), accountId, at: AT };
    const options: LinkOptions = {
      ...(MOMENTS[link.activeFrom] && { activeFrom: MOMENTS[link.activeFrom] }),
      ...(MOMENTS[link.expiresAt] && { expiresAt: MOMENTS[link.expiresAt] }),
      ...(link.maxClicks > 0 && { maxClicks: link.maxClicks }),
      ...(link.isTagged && { tags: ["tagged"] }),
    };
    const isOwn = link.host === "active" || link.host === "inactive";
    const events: LinkEvent[] = [
      linkCreated({
        ...of,
        ...options,
        ...(isOwn && { domainId: DOMAIN }),
        title: `Straße nr${n}`,
        keyId: accountId,
      }),
    ];
    if (link.isDisabled) events.push({ type: "LinkDisabled", data: of });
    if (link.isBlocked) events.push({ type: "LinkBlocked", data: { ...of, reason: "spam" } });
    if (link.isDeleted) events.push({ type: "LinkDeleted", data: of });
    await append(eventStore, `link-${host}/${of.slug}`, events);
    const clicks = Array.from({ length: link.clicks }, () =>
      linkClicked({ link: `${host}/${of.slug}`, accountId }),
    );
    if (clicks.length > 0) await append(eventStore, `clicks-w${n}${accountId.slice(-4)}-20260301`, clicks);
  }
  await foldGroups(stores);
}

async function compare(accountId: string, all: readonly Wanted[], moment: number): Promise<void> {
  const clock = () => new Date(MOMENTS[moment] as string);
  const deps = { ...stores, baseHost: HOSTS.base, baseUrl: "https://sho.rt", clock };
  // Of equal times the link with the last id is the newest.
  const idOf = (n: number) => `${HOSTS[(all[n] as Wanted).host]}/${slugOf(accountId, n)}`;
  const newestFirst = [...all.keys()].sort((a, b) => (idOf(a) > idOf(b) ? -1 : 1));
  for (const [nth, status] of [undefined, ...LINK_STATUSES].entries()) {
    // Each status with each filter at some moment.
    const filter = FILTERS[(nth + moment) % FILTERS.length] ?? {};
    const expected = newestFirst.filter((n) => {
      const link = all[n] as Wanted;
      const has = plainStatus(link, moment);
      const isWanted = status === undefined ? has !== "deleted" : has === status;
      return (
        isWanted && (!("tag" in filter) || link.isTagged) && (!("q" in filter) || String(n).startsWith("1"))
      );
    });
    const slugs = expected.map((n) => slugOf(accountId, n));
    const paged: string[] = [];
    expect(await countAccountLinks(deps, accountId, { ...filter, status })).toBe(expected.length);
    for (let after: string | undefined | null; after !== null; ) {
      const part = await accountLinks(deps, accountId, { ...filter, status, limit: 7, after });
      after = part.next;
      for (const link of part.links)
        expect(link.status).toBe(plainStatus(all[nOf(link.slug)] as Wanted, moment));
      paged.push(...part.links.map(({ slug }) => slug));
    }
    expect([status, filter, moment, paged]).toEqual([status, filter, moment, slugs]);
    for (const scope of ["account", "key"] as const) {
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const options = { ...filter, status, limit: 7, scope, cursor };
        const part = await listLinks(deps, { accountId, keyId: accountId }, options);
        expect(part.total).toBe(expected.length);
        for (const link of part.links)
          expect(link.status).toBe(plainStatus(all[nOf(link.slug)] as Wanted, moment));
        walked.push(...part.links.map(({ slug }) => slug));
        cursor = part.next_cursor ?? undefined;
      } while (cursor !== undefined);
      expect([status, filter, moment, scope, walked]).toEqual([status, filter, moment, scope, slugs]);
    }
  }
}

function nOf(slug: string): number {
  return Number(slug.slice(-3));
}
