// Use cases on real SQLite stores: races, limits, idempotency, domains.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { onAccount } from "../../../src/commands/account/accounts.ts";
import { issueKey } from "../../../src/commands/account/keys.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import { remove } from "../../../src/commands/domains/domain.ts";
import {
  addDomain,
  deactivateDomain,
  removeDomain,
  verifyDomain,
} from "../../../src/commands/domains/domains.ts";
import { blockLink, changeLink } from "../../../src/commands/links/change-link.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { createLinksInBulk } from "../../../src/commands/links/create-links-in-bulk.ts";
import { StoreUnavailable } from "../../../src/connections/errors.ts";
import { RevisionConflict } from "../../../src/event-store/port.ts";
import { linkStream } from "../../../src/events/streams.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { callerOf, openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

type Fixture = Awaited<ReturnType<typeof openCommandDeps>>;
let fixture: Fixture;
let deps: Fixture["deps"];
beforeEach(async () => {
  fixture = await openCommandDeps();
  deps = fixture.deps;
});
afterEach(() => fixture.close());

const account = async (tier: Tier, email = `${deps.newId()}@example.com`) =>
  (await openAccount(deps, operator, { email, tier })).accountId;

const noDns = () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));

/** Adds a domain and verifies it by the operator. */
async function owned(accountId: string, hostname: string): Promise<string> {
  await addDomain(deps, operator, accountId, hostname);
  const vouched = { skipDns: true };
  return (await verifyDomain({ ...deps, resolveTxt: noDns }, operator, accountId, hostname, vouched))
    .domainId;
}

const outcomes = async (tries: readonly Promise<unknown>[]) => {
  const settled = await Promise.allSettled(tries);
  const refused = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  return { won: settled.length - refused.length, refused };
};

describe("accounts", () => {
  it("keep the e-mail address out of the log and give each address one account", async () => {
    const accountId = await account("free", "Ann@Example.com");
    const { won, refused } = await outcomes([
      account("free", "ann@example.COM"),
      account("free", "ann@example.com"),
    ]);
    expect(won).toBe(0);
    for (const error of refused) expect(error).toMatchObject({ code: "email_taken" });
    const events = await deps.eventStore.read(`account-${accountId}`);
    expect(JSON.stringify(events).toLowerCase()).not.toContain("ann@");
  });

  it("give one of five racing requests for an address the account", async () => {
    const { won } = await outcomes(Array.from({ length: 5 }, () => account("free", "race@example.com")));
    expect(won).toBe(1);
  });

  it.each([
    ["free", 2],
    ["developer", 5],
  ] as const)("of 20 concurrent key requests on %s exactly %i succeed", async (tier, limit) => {
    const accountId = await account(tier);
    const { won, refused } = await outcomes(
      Array.from({ length: 20 }, () => issueKey(deps, operator, accountId)),
    );
    expect(won).toBe(limit);
    for (const error of refused) expect(error).toMatchObject({ code: "key_limit_reached" });
  });

  it("get keys of the prefix and 32 characters", async () => {
    const { key } = await issueKey(deps, operator, await account("free"));
    expect(key).toMatch(/^ll_[A-Za-z0-9]{32}$/);
  });

  it("label their keys with text that every JSON parser reads, also where it is cut", async () => {
    const { label } = await issueKey(deps, operator, await account("free"), { label: `${"x".repeat(99)}😀` });
    expect(label).toBe(`${"x".repeat(99)}\uFFFD`);
  });
});

describe("domains", () => {
  it("are verified by their TXT record", async () => {
    const accountId = await account("developer");
    const { record } = await addDomain(deps, operator, accountId, "go.example.com");
    expect(record).toMatchObject({ type: "TXT", name: "_linkledger.go.example.com" });
    const verifyWith = (records: string[][]) =>
      verifyDomain({ ...deps, resolveTxt: async () => records }, operator, accountId, "go.example.com");
    await expect(verifyWith([["other"]])).rejects.toMatchObject({ code: "domain_not_proven" });
    const half = record.value.length / 2;
    const chunks = [record.value.slice(0, half), record.value.slice(half)];
    const verified = await verifyWith([["spf"], chunks]);
    expect(verified).toMatchObject({ hostname: "go.example.com", state: "active" });
    expect((await verifyWith([])).domainId).toBe(verified.domainId);
  });

  it("are not verified when DNS has no answer", async () => {
    const accountId = await account("developer");
    await addDomain(deps, operator, accountId, "go.example.com");
    const verifying = verifyDomain({ ...deps, resolveTxt: noDns }, operator, accountId, "go.example.com");
    await expect(verifying).rejects.toThrow(/TXT record _linkledger\.go\.example\.com .*ENOTFOUND/);
  });

  it("belong to one account until it removes them", async () => {
    const [ann, bob] = [await account("developer"), await account("developer")];
    const first = await owned(ann, "go.example.com");
    await expect(owned(bob, "go.example.com")).rejects.toMatchObject({ code: "domain_taken" });
    await removeDomain(deps, operator, ann, "go.example.com");
    expect(await owned(bob, "go.example.com")).not.toBe(first);
    await expect(owned(ann, "go.example.com")).rejects.toMatchObject({ code: "domain_taken" });
  });

  it("go to one of five accounts that verify concurrently", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => account("developer")));
    const { won, refused } = await outcomes(accounts.map((id) => owned(id, "go.example.com")));
    expect(won).toBe(1);
    for (const error of refused) expect(error).toMatchObject({ code: "domain_taken" });
  });

  it("whose removal was cut off before the release are free for others", async () => {
    const [ann, bob] = [await account("developer"), await account("developer")];
    await owned(ann, "go.example.com");
    await onAccount(deps, operator, ann, (state) =>
      remove(state, { hostname: "go.example.com", at: deps.clock().toISOString() }),
    );
    await owned(bob, "go.example.com");
    await removeDomain(deps, operator, ann, "go.example.com");
    await expect(owned(ann, "go.example.com")).rejects.toMatchObject({ code: "domain_taken" });
  });

  it("whose verification was cut off after the claim are completed by verifying again", async () => {
    const accountId = await account("developer");
    await addDomain(deps, operator, accountId, "go.example.com");
    const cutOff = {
      ...deps,
      resolveTxt: noDns,
      eventStore: {
        ...deps.eventStore,
        read: deps.eventStore.read.bind(deps.eventStore),
        append: async (...args: Parameters<typeof deps.eventStore.append>) => {
          if (args[0].startsWith("account-")) throw new Error("cut off");
          return await deps.eventStore.append(...args);
        },
      } as typeof deps.eventStore,
    };
    const vouched = { skipDns: true };
    await expect(verifyDomain(cutOff, operator, accountId, "go.example.com", vouched)).rejects.toThrow(
      "cut off",
    );
    const again = await verifyDomain(
      { ...deps, resolveTxt: noDns },
      operator,
      accountId,
      "go.example.com",
      vouched,
    );
    const claims = await deps.eventStore.read("domain-go.example.com");
    expect(claims.map((event) => event.data)).toMatchObject([{ domainId: again.domainId }]);
  });
});

describe("a command that loses every race", () => {
  it("gives up after five tries, each after a wait of 10 to 200 ms", async () => {
    const accountId = await account("free");
    const waits: number[] = [];
    const { eventStore } = deps;
    let tries = 0;
    const losing = {
      ...deps,
      sleep: async (ms: number) => void waits.push(ms),
      eventStore: Object.assign(Object.create(eventStore) as typeof eventStore, {
        read: (stream: string) => eventStore.read(stream),
        append: async (stream: string) => {
          tries += 1;
          throw new RevisionConflict(stream, 0, 1);
        },
      }),
    };
    await expect(changeTier(losing, operator, accountId, "developer")).rejects.toThrow(RevisionConflict);
    expect(tries).toBe(5);
    expect(waits).toHaveLength(4);
    for (const ms of waits) expect(ms >= 10 && ms <= 200).toBe(true);
  });

  it("appends nothing when there is nothing to say", async () => {
    const accountId = await account("free");
    const head = await deps.eventStore.head();
    expect((await changeTier(deps, operator, accountId, "free")).position).toBe(head);
    expect(await deps.eventStore.head()).toBe(head);
  });
});

describe("creating a link", () => {
  const url = "https://example.com/a";

  it("answers the Link object", async () => {
    const by = callerOf(await account("free"), "free");
    const { link, position } = await createLink(deps, operator, by, { url });
    expect(link).toEqual({
      short_url: `http://localhost:3000/${link.slug}`,
      slug: expect.stringMatching(/^[a-z2-9]{7}$/),
      long_url: url,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      qr_download_url: `http://localhost:3000/api/qr/${link.slug}`,
    });
    expect(position).toBe(await deps.eventStore.head());
  });

  it("checks tier, URL, domain, slug and uniqueness in this order", async () => {
    const accountId = await account("developer");
    const by = callerOf(accountId, "developer");
    const free = callerOf(await account("free"), "free");
    const domain_id = await owned(accountId, "go.example.com");
    const foreign = await owned(await account("developer"), "other.example.com");
    const refusal = (request: Parameters<typeof createLink>[3], who = by) =>
      createLink(deps, operator, who, request).then(
        () => "created",
        (error) => error.code,
      );
    expect(await refusal({ url: "nope", customSlug: "!" }, free)).toBe("tier_required");
    expect(await refusal({ url, domain_id }, free)).toBe("tier_required");
    expect(await refusal({ url: "nope", domain_id: foreign, customSlug: "!" })).toBe("invalid_url");
    expect(await refusal({ url: "https://bad.example/", domain_id: foreign })).toBe("unsafe_url");
    expect(await refusal({ url, domain_id: foreign, customSlug: "!" })).toBe("invalid_domain");
    expect(await refusal({ url, customSlug: "!" })).toBe("custom_slug_needs_domain");
    expect(await refusal({ url, domain_id, customSlug: "!" })).toBe("invalid_slug");
    expect(await refusal({ url, domain_id, customSlug: "Sale" })).toBe("created");
    expect(await refusal({ url, domain_id, customSlug: "sALE" })).toBe("slug_taken");
    await deactivateDomain(deps, operator, accountId, domain_id);
    expect(await refusal({ url, domain_id, customSlug: "new-one" })).toBe("invalid_domain");
  });

  it("on a custom domain names the domain and its QR code", async () => {
    const accountId = await account("developer");
    const domain_id = await owned(accountId, "go.example.com");
    const request = { url, domain_id, customSlug: "Sale" };
    const { link } = await createLink(deps, operator, callerOf(accountId, "developer"), request);
    expect(link).toMatchObject({
      short_url: "https://go.example.com/sale",
      slug: "sale",
      custom_domain: "go.example.com",
      domain_id,
      qr_download_url: `http://localhost:3000/api/qr/sale?domain_id=${domain_id}`,
    });
  });

  it("lets exactly one of ten racing requests have a slug", async () => {
    const accountId = await account("developer");
    const by = callerOf(accountId, "developer");
    const request = { url, domain_id: await owned(accountId, "go.example.com"), customSlug: "race" };
    const tries = Array.from({ length: 10 }, () => createLink(deps, operator, by, request));
    const { won, refused } = await outcomes(tries);
    expect(won).toBe(1);
    for (const error of refused) expect(error).toMatchObject({ code: "slug_taken" });
  });

  it("draws another slug when one is taken, and never gives a slug twice", async () => {
    const by = callerOf(await account("free"), "free");
    const slugs = ["aaaaaaa", "aaaaaaa", "bbbbbbb"];
    const rigged = { ...deps, randomSlug: () => slugs.shift() ?? "ccccccc" };
    expect((await createLink(rigged, operator, by, { url })).link.slug).toBe("aaaaaaa");
    expect((await createLink(rigged, operator, by, { url })).link.slug).toBe("bbbbbbb");
  });

  it("makes one link for one idempotency scope, and answers the first again", async () => {
    const by = callerOf(await account("free"), "free");
    const options = { idempotency: "key-1/once" };
    const first = await createLink(deps, operator, by, { url }, options);
    const later = { ...deps, clock: () => new Date(Date.now() + 60_000) };
    const address = { host: "localhost", slug: first.link.slug };
    await changeLink(later, operator, by, address, { type: "retarget", url: "https://example.org/" });
    const second = await createLink(later, operator, by, { url }, options);
    expect(second).toEqual(first);
    expect(await deps.eventStore.read(linkStream("localhost", first.link.slug))).toHaveLength(2);
    const other = await createLink(deps, operator, by, { url }, { idempotency: "key-1/twice" });
    expect(other.link.slug).not.toBe(first.link.slug);
  });

  it("reads one event back for an idempotency scope, however often the link was changed", async () => {
    const by = callerOf(await account("free"), "free");
    const options = { idempotency: "key-1/once" };
    const { link } = await createLink(deps, operator, by, { url }, options);
    await changeLink(deps, operator, by, { host: "localhost", slug: link.slug }, { type: "disable" });
    const read = vi.spyOn(deps.eventStore, "read");
    await createLink(deps, operator, by, { url }, options);
    const ofLink = read.mock.calls.filter(([stream]) => stream === linkStream("localhost", link.slug));
    expect(ofLink.map(([, range]) => range)).toEqual([{ limit: 1 }]);
  });
});

describe("changing a link", () => {
  const url = "https://example.com/a";
  it("checks no URL of a link that is not there, another's, deleted or blocked", async () => {
    const by = callerOf(await account("free"), "free");
    const stranger = callerOf(await account("free"), "free");
    const made = async () => {
      const { slug } = (await createLink(deps, operator, by, { url })).link;
      return { host: "localhost", slug };
    };
    const [own, deleted, blocked] = [await made(), await made(), await made()];
    await changeLink(deps, operator, by, deleted, { type: "delete" });
    await blockLink(deps, operator, blocked, { reason: "phishing", legal: false });
    const urlSafety = vi.fn(async () => ["unknown" as const]);
    const recheckLater = vi.fn(async () => undefined);
    const watched = { ...deps, urlSafety, recheckLater };
    const retarget = { type: "retarget", url: "https://example.org/" } as const;
    const [enable, restore] = [{ type: "enable" }, { type: "restore" }] as const;
    const change = (
      who: typeof by,
      address: typeof own,
      to: typeof retarget | typeof enable | typeof restore,
    ) => changeLink(watched, operator, who, address, to);
    for (const to of [retarget, enable, restore]) {
      await expect(change(by, { ...own, slug: "nowhere" }, to)).rejects.toMatchObject({
        code: "link_not_found",
      });
      await expect(change(stranger, own, to)).rejects.toMatchObject({ code: "link_not_yours" });
      await expect(change(by, blocked, to)).rejects.toMatchObject({ code: "link_blocked" });
    }
    for (const to of [retarget, enable])
      await expect(change(by, deleted, to)).rejects.toMatchObject({ code: "link_deleted" });
    const nonsense = { ...retarget, url: "nope" };
    await expect(changeLink(watched, operator, stranger, own, nonsense)).rejects.toMatchObject({
      code: "link_not_yours",
    });
    expect([urlSafety.mock.calls.length, recheckLater.mock.calls.length]).toEqual([0, 0]);
    for (const to of [retarget, enable]) await change(by, own, to);
    await change(by, deleted, restore);
    expect([urlSafety.mock.calls.length, recheckLater.mock.calls.length]).toEqual([3, 3]);
  });
});

describe("a link on a custom domain", () => {
  it("is created by the domain's id in upper case too, as UUIDs are equal then", async () => {
    const accountId = await account("developer");
    const by = callerOf(accountId, "developer");
    const domain_id = (await owned(accountId, "go.example.com")).toUpperCase();
    const { link } = await createLink(deps, operator, by, { url: "https://example.com/", domain_id });
    expect(link.custom_domain).toBe("go.example.com");
  });

  it("may lead to a name that its owner has added and not verified, which serves no links", async () => {
    const accountId = await account("developer");
    await addDomain(deps, operator, accountId, "www.example.com");
    const by = callerOf(accountId, "developer");
    const { link } = await createLink(deps, operator, by, { url: "https://www.example.com/sale" });
    expect(link.long_url).toBe("https://www.example.com/sale");
  });

  it("is not led back to that domain by its owner, on the Free tier neither", async () => {
    const accountId = await account("developer");
    const domain_id = await owned(accountId, "go.example.com");
    const request = { url: "https://example.com/", domain_id, customSlug: "loop" };
    await createLink(deps, operator, callerOf(accountId, "developer"), request);
    const address = { host: "go.example.com", slug: "loop" };
    const loop = { type: "retarget", url: "https://go.example.com/loop" } as const;
    for (const tier of ["developer", "free"] as const)
      await expect(
        changeLink(deps, operator, callerOf(accountId, tier), address, loop),
      ).rejects.toMatchObject({ code: "invalid_url" });
  });
});

describe("creating links in bulk", () => {
  it("answers every item by its position, whatever the others do", async () => {
    const accountId = await account("developer");
    const by = callerOf(accountId, "developer");
    const domain_id = await owned(accountId, "go.example.com");
    const links = [
      { url: "https://example.com/0" },
      { url: "nope" },
      null,
      { url: 5 },
      { url: "https://example.com/4", extra: true },
      { url: "https://example.com/5", customSlug: "same", domain_id },
      { url: "https://example.com/6", customSlug: "SAME", domain_id },
      { url: "https://example.com/7", customSlug: "alone" },
      { url: "https://example.com/8" },
    ];
    // The first link, and the first of the equal slugs, are made only after the last one.
    const lastIsMade = Promise.withResolvers<void>();
    const eventStore = storeWith(deps.eventStore, {
      append: async (...given) => {
        if (/example\.com\/[05]"/.test(JSON.stringify(given))) await lastIsMade.promise;
        const appended = await deps.eventStore.append(...given);
        if (JSON.stringify(given).includes("example.com/8")) lastIsMade.resolve();
        return appended;
      },
    });
    const { bulk } = await createLinksInBulk({ ...deps, eventStore }, operator, by, links);
    expect(bulk).toMatchObject({ success: true, tier: "developer", total: 9, created: 3, failed: 6 });
    expect(bulk.results.map((result) => result.index)).toEqual([0, 5, 8]);
    expect(bulk.results[1]).toMatchObject({ slug: "same", custom_domain: "go.example.com", domain_id });
    expect(bulk.results[0]).not.toHaveProperty("qr_download_url");
    expect(bulk.errors.map(({ index, url }) => [index, url])).toEqual([
      [1, "nope"],
      [2, ""],
      [3, ""],
      [4, "https://example.com/4"],
      [6, "https://example.com/6"],
      [7, "https://example.com/7"],
    ]);
    expect(bulk.errors[4]?.error).toMatch(/already exists/);
    expect(bulk.errors[5]?.error).toMatch(/only available with custom domains/);
  });

  it("fails as a single link does when the log is unavailable and nothing was created", async () => {
    const by = callerOf(await account("developer"), "developer");
    const append = () => Promise.reject(new StoreUnavailable("The disk is full"));
    const away = { ...deps, eventStore: storeWith(deps.eventStore, { append }) };
    const links = [{ url: "nope" }, { url: "https://example.com/" }];
    await expect(createLinksInBulk(away, operator, by, links)).rejects.toThrow(StoreUnavailable);
  });

  it("answers what was created before the log became unavailable, and which items to repeat", async () => {
    const by = callerOf(await account("developer"), "developer");
    const eventStore = storeWith(deps.eventStore, {
      append: async (...given) => {
        if (JSON.stringify(given).includes("/late")) throw new StoreUnavailable("The disk is full");
        return await deps.eventStore.append(...given);
      },
    });
    const links = [{ url: "https://example.com/0" }, { url: "https://example.com/late" }, { url: "nope" }];
    const { bulk, isFinal } = await createLinksInBulk({ ...deps, eventStore }, operator, by, links);
    expect([bulk.created, isFinal]).toEqual([1, false]);
    expect(bulk.errors.map(({ index, code }) => [index, code])).toEqual([
      [1, "store_unavailable"],
      [2, "invalid_url"],
    ]);
  });

  it("makes every link once for one idempotency scope", async () => {
    const by = callerOf(await account("developer"), "developer");
    const links = Array.from({ length: 100 }, (_, n) => ({ url: `https://example.com/${n}` }));
    const options = { idempotency: "key-1/bulk" };
    const first = await createLinksInBulk(deps, operator, by, links, options);
    expect(new Set(first.bulk.results.map(({ slug }) => slug)).size).toBe(100);
    expect(await createLinksInBulk(deps, operator, by, links, options)).toEqual(first);
  });

  it("needs the Developer tier", async () => {
    const by = callerOf(await account("free"), "free");
    await expect(createLinksInBulk(deps, operator, by, [])).rejects.toMatchObject({ code: "tier_required" });
  });
});
