import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LinkledgerEvent } from "../../src/events/catalogue.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { lastDaysUntil } from "../../src/projections/definitions/last-days.ts";
import { accountUsage } from "../../src/queries/accounts.ts";
import type { AccountQuestion } from "../../src/queries/analytics/question.ts";
import type { PageRequest } from "../../src/queries/cursor.ts";
import {
  type AccountLinksFilter,
  accountLinkKeys,
  accountLinkPages,
  accountLinks,
  countAccountLinks,
} from "../../src/queries/links/list-links.ts";
import { listTags } from "../../src/queries/links/tags.ts";
import { topLinks } from "../../src/queries/links/top-links.ts";
import {
  ACCOUNT,
  AT,
  DOMAIN,
  KEY,
  linkClicked,
  linkCreated,
  OTHER_ACCOUNT,
} from "../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../support/projections/account-questions.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { rangesOf } from "../support/projections/range-of.ts";
import { clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { append, type Stores } from "../support/runtime/stores.ts";

const NOW = new Date("2026-03-01T10:30:00.000Z");
const LATER = "2026-03-01T10:20:00.000Z";

let stores: Stores;

/** `open`: empty stores, with the read store of the adapter. */
export function portalQueriesContract(name: string, open: () => Promise<Stores>) {
  describe(`the portal's queries: ${name}`, { timeout: 60_000 }, () => {
    beforeEach(async () => {
      stores = await open();
    });
    afterEach(async () => await stores.close());
    listSuite();
    tagSuite();
    topSuite();
    dashboardSuite();
  });
}

async function created(slug: string, fields: Parameters<typeof linkCreated>[0] = {}) {
  const event = linkCreated({ ...fields, slug });
  await append(stores.eventStore, `link-${event.data.host}/${slug}`, [event]);
}

async function changed(slug: string, type: "LinkDisabled" | "LinkDeleted" | "LinkRestored") {
  const data = { host: "sho.rt", slug, accountId: ACCOUNT, at: LATER };
  await append(stores.eventStore, `link-sho.rt/${slug}`, [{ type, data }]);
}

async function clicked(slug: string, times: number, fields: Parameters<typeof linkClicked>[0] = {}) {
  const events = Array.from({ length: times }, () => linkClicked({ ...fields, link: `sho.rt/${slug}` }));
  if (times > 0) await append(stores.eventStore, "clicks-w-20260301", events);
}

function reading() {
  return { ...stores, baseHost: "sho.rt", clock: () => NOW };
}

async function project() {
  await foldGroups(stores);
}

function listSuite() {
  describe("the links of an account", () => {
    type Options = AccountLinksFilter & Partial<PageRequest>;
    const list = async (options: Options = {}) =>
      await accountLinks(reading(), ACCOUNT, { limit: 50, ...options });
    const number = async (options: AccountLinksFilter = {}) =>
      await countAccountLinks(reading(), ACCOUNT, options);
    const slugs = async (options: Options = {}) => (await list(options)).links.map(({ slug }) => slug);

    beforeEach(async () => {
      await created("live", { at: "2026-01-03T00:00:00.000Z", longUrl: "https://shop.example/Spring_Sale" });
      const carried = { title: "Winter coats", tags: ["sale", "mail"] };
      await created("off", { at: "2026-01-02T00:00:00.000Z", ...carried });
      await created("gone", { at: "2026-01-01T00:00:00.000Z" });
      await created("own", {
        at: "2026-01-04T00:00:00.000Z",
        host: "my.example",
        domainId: DOMAIN,
        tags: ["sale"],
      });
      await created("theirs", { accountId: OTHER_ACCOUNT, tags: ["sale"] });
      const domain = { accountId: ACCOUNT, hostname: "my.example", at: AT };
      await append(stores.eventStore, `account-${ACCOUNT}`, [
        { type: "DomainAdded", data: { ...domain, token: "t" } },
        { type: "DomainVerified", data: { ...domain, domainId: DOMAIN, how: "dns" } },
        { type: "DomainActivated", data: { ...domain, domainId: DOMAIN } },
      ]);
      await changed("off", "LinkDisabled");
      await changed("gone", "LinkDeleted");
      await clicked("live", 3);
      await project();
    });

    it("come newest first with their clicks, without deleted ones and other accounts'", async () => {
      const { links, ...around } = await list();
      expect(links.map(({ slug, clicks }) => [slug, clicks])).toEqual([
        ["own", 0],
        ["live", 3],
        ["off", 0],
      ]);
      expect(around).toEqual({ next: null, previous: null });
    });

    it("are counted one by one only where they are searched or filtered", async () => {
      const count = vi.spyOn(stores.readStore, "count");
      expect([await number(), await number({ status: "deleted" })]).toEqual([3, 1]);
      expect(count).not.toHaveBeenCalled();
      expect([await number({ status: "live" }), await number({ domainId: DOMAIN })]).toEqual([2, 1]);
      expect(count).toHaveBeenCalledTimes(2);
      count.mockRestore();
    });

    it("are filtered by a tag, which is counted, and found by a part of their title", async () => {
      expect(await slugs({ tag: "sale" })).toEqual(["own", "off"]);
      expect(await number({ tag: "sale" })).toBe(2);
      expect(await slugs({ tag: "sale", status: "disabled" })).toEqual(["off"]);
      expect(await slugs({ tag: "mai" })).toEqual([]);
      expect(await slugs({ q: "winter" })).toEqual(["off"]);
    });

    it("are filtered by state and domain, and found by a part of either URL", async () => {
      expect(await slugs({ status: "live" })).toEqual(["own", "live"]);
      expect(await slugs({ status: "disabled" })).toEqual(["off"]);
      expect(await slugs({ status: "deleted" })).toEqual(["gone"]);
      expect(await slugs({ domainId: DOMAIN })).toEqual(["own"]);
      expect(await slugs({ domainId: null, status: "live" })).toEqual(["live"]);
      expect(await slugs({ q: "spring_SALE" })).toEqual(["live"]);
      expect(await slugs({ q: "my.example/O" })).toEqual(["own"]);
      expect(await slugs({ q: "theirs" })).toEqual([]);
    });

    it("are filtered by who made them: in the portal, by programs, or with one API key, beside other filters", async () => {
      await created("typed", { via: "web", keyId: undefined, tags: ["sale"] });
      await created("other", { keyId: DOMAIN, tags: ["sale"] });
      await project();
      expect(await slugs({ madeBy: "portal" })).toEqual(["typed"]);
      expect((await slugs({ madeBy: "api" })).sort()).toEqual(["live", "off", "other", "own"]);
      expect(await slugs({ madeBy: DOMAIN })).toEqual(["other"]);
      expect(await slugs({ madeBy: KEY, status: "disabled" })).toEqual(["off"]);
      expect(await slugs({ madeBy: KEY, status: "live", tag: "sale" })).toEqual(["own"]);
      expect(await number({ madeBy: DOMAIN, status: "disabled" })).toBe(0);
    });

    it("page through equal times to the end and back, without a gap or a repeat, searched too", async () => {
      for (let n = 0; n < 23; n += 1) await created(`many${n}`);
      await project();
      const walk = async (first: Options, way: "next" | "previous", by: "after" | "before") => {
        const pages: string[][] = [];
        for (let place: Options = first; ; ) {
          const found = await list({ limit: 5, q: "MANY", ...place });
          pages.push(found.links.map(({ slug }) => slug));
          const cursor = found[way];
          if (cursor === null) return { pages, last: found };
          place = { [by]: cursor };
        }
      };
      const { pages, last } = await walk({}, "next", "after");
      expect(pages.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3]);
      expect(new Set(pages.flat()).size).toBe(23);
      const back = await walk({ before: last.previous ?? "" }, "previous", "before");
      expect(back.pages).toEqual(pages.slice(0, -1).reverse());
      expect(await number({ q: "MANY" })).toBe(23);
      const parts = await Array.fromAsync(accountLinkPages(reading(), ACCOUNT, { q: "MANY", limit: 10 }));
      expect(parts.flat().map(({ slug }) => slug)).toEqual(pages.flat());
      const { keys, next } = await accountLinkKeys(reading(), ACCOUNT, { q: "MANY", limit: 20 });
      const others = await accountLinkKeys(reading(), ACCOUNT, {
        q: "MANY",
        limit: 20,
        after: next ?? undefined,
      });
      expect([...keys, ...others.keys]).toEqual(pages.flat().map((slug) => `sho.rt/${slug}`));
      expect(others.next).toBeNull();
    });

    it("have the people of their last days, to which previews don't count", async () => {
      await clicked("off", 4, { at: "2026-03-02T10:00:00.000Z", kind: "preview" });
      await clicked("off", 2, { at: "2026-03-01T10:00:00.000Z", kind: "qr_scan" });
      await clicked("off", 1, { at: "2026-02-20T10:00:00.000Z" });
      await clicked("off", 7, { at: "2026-02-01T10:00:00.000Z" });
      await project();
      const off = (await list()).links.find(({ slug }) => slug === "off");
      expect(off?.clicks).toBe(10);
      const days = lastDaysUntil("2026-03-03", off?.lastDays ?? [], off?.date ?? "");
      expect(days).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]);
    });
  });
}

function tagSuite() {
  it("lists tags with their links, and the clicks of these", async () => {
    await created("a", { tags: ["sale"] });
    await created("b", { tags: ["sale", "mail"] });
    await clicked("a", 2);
    await clicked("b", 3, { kind: "qr_scan" });
    await project();
    const { tags } = await listTags(reading(), ACCOUNT, new Map(), { limit: 10 });
    expect(tags.map(({ tag, links, clicks }) => [tag, links, clicks])).toEqual([
      ["sale", 2, 5],
      ["mail", 1, 3],
    ]);
  });
}

function topSuite() {
  describe("the top links of an account", () => {
    it("are exact, page by page, without deleted links and other accounts'", async () => {
      const clicks = [0, 3, 9, 10, 100, 2, 9];
      for (const [n, count] of clicks.entries()) {
        await created(`l${n}`);
        await clicked(`l${n}`, count);
      }
      await created("theirs", { accountId: OTHER_ACCOUNT });
      await clicked("theirs", 50, { accountId: OTHER_ACCOUNT });
      await changed("l3", "LinkDeleted");
      await project();
      const seen: [string, number][] = [];
      const read = async (place: Partial<PageRequest>) => {
        const found = await topLinks(reading(), ACCOUNT, { limit: 2, ...place });
        return { ...found, rows: found.links.map(({ slug, clicks: n }): [string, number] => [slug, n]) };
      };
      let found = await read({});
      seen.push(...found.rows);
      while (found.next !== null) {
        found = await read({ after: found.next });
        seen.push(...found.rows);
      }
      const before = await read({ before: found.previous ?? "" });
      expect(before.rows).toEqual(seen.slice(2, 4));
      expect((await read({ before: before.previous ?? "" })).rows).toEqual(seen.slice(0, 2));
      expect(seen).toEqual([
        ["l4", 100],
        ["l6", 9],
        ["l2", 9],
        ["l1", 3],
        ["l5", 2],
      ]);
    });

    it("are those that fit the filters of the list, on each page", async () => {
      for (let n = 0; n < 6; n += 1) {
        await created(`f${n}`, { tags: n % 2 === 0 ? ["even"] : ["odd"], title: n > 3 ? "late" : "early" });
        await clicked(`f${n}`, n + 1);
      }
      await changed("f4", "LinkDisabled");
      await project();
      const slugs = async (filter: Omit<Parameters<typeof topLinks>[2], "limit">) => {
        const all: string[] = [];
        for (let after: string | null | undefined; after !== null; ) {
          const found = await topLinks(reading(), ACCOUNT, { limit: 1, ...filter, ...(after && { after }) });
          all.push(...found.links.map(({ slug }) => slug));
          after = found.next;
        }
        return all;
      };
      expect(await slugs({ tag: "even" })).toEqual(["f4", "f2", "f0"]);
      expect(await slugs({ tag: "even", status: "live" })).toEqual(["f2", "f0"]);
      expect(await slugs({ q: "late" })).toEqual(["f5", "f4"]);
      expect(await slugs({ status: "disabled", tag: "odd" })).toEqual([]);
    });

    it("are those of people: previews by bots move no link up", async () => {
      for (const slug of ["bots", "people"]) await created(slug);
      await clicked("bots", 40, { kind: "preview" });
      await clicked("bots", 1);
      await clicked("people", 2, { kind: "qr_scan" });
      await project();
      const { links } = await topLinks(reading(), ACCOUNT, { limit: 5 });
      expect(links.map(({ slug, clicks }) => [slug, clicks])).toEqual([
        ["people", 2],
        ["bots", 1],
      ]);
    });
  });
}

type Asked = Pick<AccountQuestion, "from" | "to" | "interval">;

function dashboardSuite() {
  const HOUR_MS = 3_600_000;
  /** That ends now, in UTC. */
  const lastHours = (hours: number, interval: "hour" | "day" = "day"): Asked => {
    return { from: NOW.getTime() - hours * HOUR_MS, interval };
  };
  const week = () => lastHours(7 * 24);

  describe("the dashboard of an account", () => {
    const dashboard = async (range = lastHours(24, "hour")) =>
      await accountQuestionsOf(stores, NOW)({ ...range, groupBy: ["link"] });
    const usage = async () =>
      await accountUsage({ ...stores, clock: () => new Date() }, { accountId: ACCOUNT, tier: "developer" });
    const numbers = async (range: Asked) => {
      const { series, groups } = await dashboard(range);
      const total = series.reduce((sum, { people }) => sum + people, 0);
      return { total, top: groups.link?.rows.map(({ value, people }) => [value.split("/")[1], people]) };
    };
    const withdrawn = async (
      slug: string,
      n: number,
      selection: Parameters<typeof clicksWithdrawn>[2] = {},
    ) => {
      const event = clicksWithdrawn({ link: `sho.rt/${slug}` }, n, selection);
      await append(stores.eventStore, withdrawalStream(`sho.rt/${slug}`), [event]);
    };

    it("answers a question about another account's link with nothing", async () => {
      await created("theirs", { accountId: OTHER_ACCOUNT });
      await clicked("theirs", 5, { accountId: OTHER_ACCOUNT });
      await project();
      const ask = accountQuestionsOf(stores, NOW);
      const ofLink = { ...week(), groupBy: ["city", "link"], filters: { link: ["sho.rt/theirs"] } } as const;
      const { totals, groups } = await ask(ofLink);
      expect([totals.people, totals.visitors]).toEqual([0, 0]);
      expect([groups.city?.rows, groups.link?.rows]).toEqual([[], []]);
      const theirs = await ask({ ...ofLink, accountId: OTHER_ACCOUNT });
      expect(theirs.totals.people).toBe(5);
    });

    it("adds up people's clicks on all its links, and shows what the tier's limits leave", async () => {
      const ofAccount = { accountId: ACCOUNT, at: AT };
      const key = { ...ofAccount, keyId: KEY, keyHash: "a".repeat(64), hint: "wxyz", label: "ci" };
      const lifecycle: LinkledgerEvent[] = [
        { type: "AccountOpened", data: { ...ofAccount, tier: "developer" } },
        { type: "KeyIssued", data: key },
        { type: "KeyIssued", data: { ...key, keyId: DOMAIN, keyHash: "b".repeat(64) } },
        { type: "KeyDeactivated", data: { ...ofAccount, keyId: DOMAIN } },
      ];
      await append(stores.eventStore, `account-${ACCOUNT}`, lifecycle);
      for (const slug of ["a", "b", "c"]) await created(slug);
      await changed("c", "LinkDeleted");
      await clicked("a", 2);
      await clicked("b", 3, { kind: "qr_scan", at: "2026-03-01T09:00:00.000Z" });
      await clicked("b", 4, { kind: "preview" });
      await clicked("c", 5, { at: "2026-03-01T09:00:00.000Z" });
      await clicked("x", 7, { accountId: OTHER_ACCOUNT });
      await project();
      const { series, totals } = await dashboard();
      expect(series.slice(-2).map(({ people }) => people)).toEqual([8, 2]);
      expect(totals).toMatchObject({ click: 7, preview: 4, qr_scan: 3, people: 10 });
      expect((await numbers(lastHours(24))).top).toEqual([
        ["c", 5],
        ["b", 3],
        ["a", 2],
      ]);
      expect(await usage()).toMatchObject({ links: 2, deletedLinks: 1, keys: { used: 1, limit: 5 } });
    });

    it("shows the numbers and the top links of the range alone, to the moment that it starts with", async () => {
      for (const slug of ["old", "new", "edge"]) await created(slug);
      await clicked("old", 9, { at: "2026-02-10T12:00:00.000Z" });
      await clicked("old", 1, { at: "2026-02-28T12:00:00.000Z" });
      await clicked("edge", 4, { at: "2026-02-28T10:29:59.999Z" });
      await clicked("edge", 2, { at: "2026-02-28T10:30:00.000Z" });
      await clicked("new", 5, { at: "2026-02-22T10:29:59.999Z" });
      await clicked("new", 3);
      await project();
      expect(await numbers(lastHours(24, "hour"))).toEqual({
        total: 6,
        top: [
          ["new", 3],
          ["edge", 2],
          ["old", 1],
        ],
      });
      expect(await numbers(week())).toEqual({
        total: 10,
        top: [
          ["edge", 6],
          ["new", 3],
          ["old", 1],
        ],
      });
      expect(await numbers(lastHours(30 * 24))).toMatchObject({
        total: 24,
        top: [
          ["old", 10],
          ["new", 8],
          ["edge", 6],
        ],
      });
      const { series, interval } = await dashboard({});
      expect([series.length, series[0]?.people, interval]).toEqual([20, 9, "day"]);
      expect(await numbers({ ...week(), to: Date.parse("2026-02-28T12:00:00.000Z") })).toMatchObject({
        total: 6,
        top: [["edge", 6]],
      });
    });

    it("has a link's numbers of closed days, in a range, before it, and in its whole life", async () => {
      for (const slug of ["a", "b"]) await created(slug);
      for (const [slug, times, at] of [
        ["a", 3, "2026-02-27T12:00:00.000Z"],
        ["a", 2, "2026-02-28T12:00:00.000Z"],
        ["b", 5, "2026-02-28T12:00:00.000Z"],
      ] as const)
        await clicked(slug, times, { at });
      await project();
      const [from, to] = [Date.parse("2026-02-28"), Date.parse("2026-03-01")];
      const range = { from, to, interval: "day", compare: "previous" } as const;
      const people = async (filters: AccountQuestion["filters"]) => {
        const { totals, previous, series } = await accountQuestionsOf(stores, NOW)({ ...range, filters });
        return [totals.people, previous?.totals.people, ...series.map((point) => point.people)];
      };
      expect(await people({ link: ["sho.rt/a"] })).toEqual([2, 3, 2]);
      expect(await people({})).toEqual([7, 3, 7]);
      const { totals, series } = await rangesOf(stores, NOW)(undefined, "a");
      expect([totals.total, series.reduce((sum, { total }) => sum + total, 0)]).toEqual([5, 2]);
    });

    it("loses what is withdrawn from the chart and from the top links alike", async () => {
      for (const slug of ["a", "b"]) await created(slug);
      await clicked("a", 2, { at: "2026-02-28T12:00:00.000Z" });
      await clicked("a", 3);
      await clicked("b", 4);
      await withdrawn("a", 1, { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" });
      await project();
      for (const range of [week(), lastHours(24, "hour")])
        expect(await numbers(range)).toEqual({
          total: 6,
          top: [
            ["b", 4],
            ["a", 2],
          ],
        });
      await withdrawn("b", 2);
      await project();
      expect(await numbers(week())).toEqual({ total: 2, top: [["a", 2]] });
    });
  });
}
