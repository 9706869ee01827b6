// Queries on documents that a real runner projected from real events.
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { analyticsAnswer } from "../../../src/api/analytics/answers.ts";
import { currentAccounts } from "../../../src/commands/account/account-stream.ts";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { findKey, listAccounts, listKeys, showAccount } from "../../../src/queries/accounts.ts";
import { domainsNamed, listDomains } from "../../../src/queries/domains.ts";
import { findLinkBySlug, ownLink } from "../../../src/queries/links/find-link.ts";
import { type ListLinksOptions, listLinks } from "../../../src/queries/links/list-links.ts";
import { whenProjected } from "../../../src/queries/read-your-writes.ts";
import {
  ACCOUNT,
  AT,
  DOMAIN,
  KEY,
  linkClicked,
  linkCreated,
  OTHER_ACCOUNT,
} from "../../support/event-store/stored-events.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { numbersOf } from "../../support/projections/range-of.ts";
import { append, type Stores, storesOfTest } from "../../support/runtime/stores.ts";

const NOW = new Date("2026-03-01T10:30:00.000Z");
const BASE = { baseHost: "sho.rt", baseUrl: "https://sho.rt" };
const writesAreReadable = async () => true;
const caller = { accountId: ACCOUNT, keyId: KEY };
const ofAccount = { accountId: ACCOUNT, at: AT };
const onDomain = (host: string, domainId: string) => ({ host, domainId, custom: true, slug: "sale" });
const sleep = async (ms: number) => void (await delay(ms));

let stores: Stores;
beforeEach(async () => {
  stores = await storesOfTest();
});

async function given(stream: string, events: LinkledgerEvent[]) {
  return await append(stores.eventStore, stream, events);
}

async function project() {
  await foldGroups(stores);
}

async function created(fields: Parameters<typeof linkCreated>[0] = {}) {
  const event = linkCreated(fields);
  await given(`link-${event.data.host}/${event.data.slug}`, [event]);
}

/** DOMAIN of the account is `my.example`. */
async function verifiedDomain() {
  const hostname = "my.example";
  await given(`account-${ACCOUNT}`, [
    { type: "AccountOpened", data: { ...ofAccount, tier: "developer" } },
    { type: "DomainAdded", data: { ...ofAccount, hostname, token: "t" } },
    { type: "DomainVerified", data: { ...ofAccount, hostname, domainId: DOMAIN, how: "dns" } },
  ]);
}

describe("an account", () => {
  const keyHash = "a".repeat(64);
  beforeEach(async () => {
    await given(`account-${ACCOUNT}`, [
      { type: "AccountOpened", data: { ...ofAccount, tier: "free" } },
      { type: "KeyIssued", data: { ...ofAccount, keyId: KEY, keyHash, hint: "wxyz", label: "ci" } },
      { type: "TierChanged", data: { ...ofAccount, from: "free", to: "developer" } },
    ]);
  });

  it("is shown to operators with its keys and domains", async () => {
    await given(`account-${ACCOUNT}`, [
      { type: "DomainAdded", data: { ...ofAccount, hostname: "a.example", token: "t" } },
      { type: "DomainVerified", data: { ...ofAccount, hostname: "a.example", domainId: DOMAIN, how: "dns" } },
      { type: "DomainAdded", data: { ...ofAccount, hostname: "b.example", token: "t" } },
      { type: "DomainRemoved", data: { ...ofAccount, hostname: "b.example" } },
    ]);
    await project();
    expect((await listAccounts(stores)).map(({ _id }) => _id)).toEqual([ACCOUNT]);
    expect((await listKeys(stores, ACCOUNT)).map(({ _id }) => _id)).toEqual([KEY]);
    expect((await listDomains(stores, ACCOUNT)).map(({ hostname }) => hostname)).toEqual(["a.example"]);
    expect(await findKey(stores, KEY)).toMatchObject({ hint: "wxyz" });
    for (const name of [DOMAIN, "a.example", "A.Example"])
      expect(await domainsNamed(stores, name)).toMatchObject([{ hostname: "a.example", state: "verified" }]);
    expect((await showAccount(stores, ACCOUNT)).account).toMatchObject({ tier: "developer" });
    await expect(showAccount(stores, OTHER_ACCOUNT)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("analytics", () => {
  const ask = async (slug = "abc", domainId?: string, now = NOW) => {
    const currentAccount = currentAccounts(stores.eventStore).current;
    const link = await ownLink({ ...stores, ...BASE, currentAccount }, caller, {
      slug,
      domain_id: domainId,
    });
    const found = await numbersOf(stores)(link, undefined, now.getTime(), new AbortController().signal);
    return analyticsAnswer(found, now);
  };

  it("count every hit once in each part, and sum up", async () => {
    await created();
    await given("clicks-a-20260301", [
      linkClicked({ utm: { source: "mail", campaign: "x" } }),
      linkClicked({ kind: "qr_scan", device: "mobile", country: "DE", referrer: undefined }),
      linkClicked({ kind: "preview", device: "bot", at: "2026-02-28T11:00:00.000Z" }),
      linkClicked({ at: "2026-02-28T10:59:59.999Z" }),
      linkClicked({ link: "sho.rt/other" }),
    ]);
    await project();
    const { analytics } = json(await ask("ABC"));
    expect(analytics).toMatchObject({
      ...{ totalClicks: 4, actualClicks: 2, previews: 1, qrScans: 1 },
      eventTypes: { click: 2, preview: 1, qr_scan: 1 },
      devices: { mobile: 1, desktop: 2, tablet: 0, bot: 1 },
      countries: { FR: 3, DE: 1 },
      referrers: { "example.org": 3, direct: 1 },
      utm: { source: { mail: 1 }, medium: {}, campaign: { x: 1 }, term: {}, content: {} },
    });
    for (const part of ["devices", "countries", "referrers", "cities", "browsers", "os"] as const) {
      expect(Object.values(analytics[part]).reduce((a, b) => a + b, 0)).toBe(4);
    }
    expect(analytics.recentClicks).toHaveLength(4);
  });

  it("have the last 24 hours with this one, zero-filled, hits of all kinds", async () => {
    await created();
    await given("clicks-a-20260301", [
      linkClicked({ kind: "preview", at: "2026-02-28T11:00:00.000Z" }),
      linkClicked({ at: "2026-02-28T10:59:59.999Z" }),
      linkClicked({ kind: "qr_scan", at: "2026-03-01T10:29:00.000Z" }),
      linkClicked(),
    ]);
    await project();
    const hours = Object.entries((await ask()).analytics.hourlyClicks);
    expect(hours).toHaveLength(24);
    expect(hours[0]).toEqual(["2026-02-28T11:00:00.000Z", 1]);
    expect(hours[1]).toEqual(["2026-02-28T12:00:00.000Z", 0]);
    expect(hours[23]).toEqual(["2026-03-01T10:00:00.000Z", 2]);
  });

  it("say since when clicks wait to be counted, once the first one has waited for five seconds", async () => {
    await created();
    await project();
    await given("clicks-a-20260301", [linkClicked(), linkClicked()]);
    const [waiting] = await stores.eventStore.read("clicks-a-20260301");
    const later = (ms: number) => new Date(Date.parse(waiting?.recordedAt ?? "") + ms);
    expect((await ask("abc", undefined, later(5_000))).as_of).toBeUndefined();
    expect((await ask("abc", undefined, later(5_001))).as_of).toBe(waiting?.recordedAt);
    await project();
    expect(await ask("abc", undefined, later(5_001))).not.toHaveProperty("as_of");
  });

  it("show a value called __proto__ as a key of the JSON", async () => {
    await created();
    await given("clicks-a-20260301", [linkClicked({ utm: { source: "__proto__" } })]);
    await project();
    expect(JSON.stringify((await ask()).analytics.utm.source)).toBe('{"__proto__":1}');
  });

  it("are forbidden for another account's link, projected or not, and not found for none", async () => {
    await created({ accountId: OTHER_ACCOUNT });
    await expect(ask()).rejects.toMatchObject({ code: "forbidden" });
    await project();
    await expect(ask()).rejects.toMatchObject({ code: "forbidden" });
    await expect(ask("nowhere")).rejects.toMatchObject({ code: "not_found" });
  });

  it("may be read by any key of the account, and not after deletion", async () => {
    await created({ keyId: DOMAIN });
    await project();
    expect((await ask()).link.id).toBe("abc");
    const { host, slug } = linkCreated().data;
    await given("link-sho.rt/abc", [{ type: "LinkDeleted", data: { host, slug, ...ofAccount } }]);
    await project();
    await expect(ask()).rejects.toMatchObject({ code: "not_found" });
  });

  it("prefer the default domain, else the caller's own, else the requested domain", async () => {
    const foreign = {
      ...onDomain("their.example", OTHER_ACCOUNT),
      accountId: OTHER_ACCOUNT,
      longUrl: "https://e/1",
    };
    await created(foreign);
    await created({ ...onDomain("my.example", DOMAIN), longUrl: "https://e/2" });
    await project();
    expect((await ask("sale")).link.long_url).toBe("https://e/2");
    await expect(ask("sale", OTHER_ACCOUNT)).rejects.toMatchObject({ code: "forbidden" });
    await created({ slug: "sale", longUrl: "https://e/3" });
    await project();
    expect((await ask("sale")).link.long_url).toBe("https://e/3");
    expect((await ask("sale", DOMAIN)).link.long_url).toBe("https://e/2");
    await expect(ask("sale", KEY)).rejects.toMatchObject({ code: "not_found" });
  });

  it("are found on a domain of the account that was the default one before", async () => {
    await verifiedDomain();
    await created({ host: "my.example", slug: "sale" });
    await project();
    expect((await ask("sale")).link.id).toBe("sale");
    expect((await ask("sale", DOMAIN)).link.id).toBe("sale");
  });

  it("are found on a custom domain the instant its link was made", async () => {
    await verifiedDomain();
    await project();
    await created(onDomain("my.example", DOMAIN));
    expect((await ask("sale")).link.id).toBe("sale");
    expect((await ask("sale", DOMAIN)).link.id).toBe("sale");
    expect(await findLinkBySlug({ ...stores, ...BASE, writesAreReadable }, "Sale", DOMAIN)).toMatchObject({
      host: "my.example",
    });
  });
});

describe("the list of links", () => {
  const list = async (options: Partial<ListLinksOptions> = {}) =>
    await listLinks({ ...stores, ...BASE, clock: () => NOW }, caller, { limit: 50, ...options });

  it("has the links of the key with what visitors meet, newest first, without deleted ones", async () => {
    await created({ slug: "old", at: "2026-01-01T00:00:00.000Z" });
    await created({ ...onDomain("my.example", DOMAIN), at: "2026-01-02T00:00:00.000Z" });
    await created({ slug: "gone" });
    await created({ slug: "elsewhere", keyId: DOMAIN });
    const gone = { host: "sho.rt", slug: "gone", ...ofAccount };
    await given("link-sho.rt/gone", [{ type: "LinkDeleted", data: gone }]);
    await project();
    const long_url = "https://example.com/";
    expect(await list()).toMatchObject({
      links: [
        {
          ...{
            short_url: "https://my.example/sale",
            slug: "sale",
            long_url,
            created_at: "2026-01-02T00:00:00.000Z",
          },
          qr_download_url: `https://sho.rt/api/qr/sale?domain_id=${DOMAIN}`,
          ...{ custom_domain: "my.example", domain_id: DOMAIN },
          ...{ status: "domain_inactive", disabled: false, revision: 0 },
          updated_at: "2026-01-02T00:00:00.000Z",
        },
        {
          ...{
            short_url: "https://sho.rt/old",
            slug: "old",
            long_url,
            created_at: "2026-01-01T00:00:00.000Z",
          },
          qr_download_url: "https://sho.rt/api/qr/old",
          ...{ status: "live", disabled: false, revision: 0, updated_at: "2026-01-01T00:00:00.000Z" },
        },
      ],
      total: 2,
      next_cursor: null,
    });
  });

  it("refuses a cursor that it did not hand out", async () => {
    for (const cursor of ["", "x", Buffer.from('{"$gt":""}').toString("base64url"), "W251bGwsMV0"]) {
      await expect(list({ cursor })).rejects.toMatchObject({ code: "invalid_cursor" });
    }
  });
});

describe("waiting for projections", () => {
  it("ends in time when they don't come", async () => {
    expect(await whenProjected({ ...stores, sleep }, "1", () => 30)).toBe(false);
  });
});

function json<Answer>(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer)) as Answer;
}
