// Use cases on real SQLite stores: races, limits, idempotency, domains.
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { closeAccount } from "../../../src/commands/account/close-account.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import { addDomain, verifyDomain } from "../../../src/commands/domains/change-domains.ts";
import { blockLink } from "../../../src/commands/links/block-link.ts";
import { createLinksInBulk } from "../../../src/commands/links/bulk/bulk-requests.ts";
import { changeLink } from "../../../src/commands/links/change-link.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { Refused } from "../../../src/commands/refusals.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { linksWithFingerprint } from "../../../src/queries/links/links-with-fingerprint.ts";
import { CLOCK_SKEW_MS } from "../../../src/runtime/moment.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
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
});

it("an account is as the log says, whoever appended to it, and never changed under a command's hands", async () => {
  const accountId = await account("free");
  const before = await deps.currentAccount(accountId);
  await changeTier(deps, operator, accountId, "developer");
  expect(await deps.currentAccount(accountId)).toMatchObject({ tier: "developer" });
  expect(before).toMatchObject({ tier: "free" });
  await closeAccount(deps, operator, accountId);
  expect(await deps.currentAccount(accountId)).toMatchObject({ status: "closed" });
});

describe("domains", () => {
  it("go to one of five accounts that verify concurrently", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => account("developer")));
    const { won, refused } = await outcomes(accounts.map((id) => owned(id, "go.example.com")));
    expect(won).toBe(1);
    for (const error of refused) expect(error).toMatchObject({ code: "domain_taken" });
  });

  it("whose verification was cut off after the claim are completed by verifying again", async () => {
    const accountId = await account("developer");
    await addDomain(deps, operator, accountId, "go.example.com");
    const eventStore = storeWith(deps.eventStore, {
      append: async (stream, ...rest) => {
        if (stream.startsWith("account-")) throw new Error("cut off");
        return await deps.eventStore.append(stream, ...rest);
      },
    });
    const verify = (given: typeof deps) =>
      verifyDomain({ ...given, resolveTxt: noDns }, operator, accountId, "go.example.com", { skipDns: true });
    await expect(verify({ ...deps, eventStore })).rejects.toThrow("cut off");
    const again = await verify(deps);
    const claims = await deps.eventStore.read("domain-go.example.com");
    expect(claims.map((event) => event.data)).toMatchObject([{ domainId: again.domainId }]);
  });
});

describe("creating a link", () => {
  const url = "https://example.com/a";

  it("draws another slug when one is taken, and never gives a slug twice", async () => {
    const by = callerOf(await account("free"), "free");
    const slugs = ["aaaaaaa", "aaaaaaa", "bbbbbbb"];
    const rigged = { ...deps, randomSlug: () => slugs.shift() ?? "ccccccc" };
    expect((await createLink(rigged, operator, by, { url })).link.slug).toBe("aaaaaaa");
    expect((await createLink(rigged, operator, by, { url })).link.slug).toBe("bbbbbbb");
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
    const retarget = { type: "patch", patch: { url: "https://example.org/" } } as const;
    const [enable, restore] = [{ type: "enable" }, { type: "restore" }] as const;
    const change = (who: typeof by, address: typeof own, to: Parameters<typeof changeLink>[4]) =>
      changeLink(watched, operator, who, address, to);
    for (const to of [retarget, enable, restore]) {
      await expect(change(by, { ...own, slug: "nowhere" }, to)).rejects.toMatchObject({
        code: "link_not_found",
      });
      await expect(change(stranger, own, to)).rejects.toMatchObject({ code: "link_not_yours" });
      await expect(change(by, blocked, to)).rejects.toMatchObject({ code: "blocked_by_operator" });
    }
    for (const to of [retarget, enable])
      await expect(change(by, deleted, to)).rejects.toMatchObject({ code: "link_deleted" });
    const nonsense = change(stranger, own, { type: "patch", patch: { url: "nope" } });
    await expect(nonsense).rejects.toMatchObject({ code: "link_not_yours" });
    expect([urlSafety.mock.calls.length, recheckLater.mock.calls.length]).toEqual([0, 0]);
    for (const to of [retarget, enable]) await change(by, own, to);
    await change(by, deleted, restore);
    expect([urlSafety.mock.calls.length, recheckLater.mock.calls.length]).toEqual([3, 3]);
  });

  it("reads its stream once, and decides again on what another has changed meanwhile", async () => {
    const by = callerOf(await account("free"), "free");
    const address = { host: "localhost", slug: (await createLink(deps, operator, by, { url })).link.slug };
    const reads: string[] = [];
    const { eventStore } = deps;
    const read: typeof eventStore.read = (stream, ...others) => {
      if (stream.startsWith("link-")) reads.push(stream);
      return eventStore.read(stream, ...others);
    };
    let meanwhile = async () => undefined as unknown;
    const urlSafety = async (urls: readonly URL[]) => {
      await meanwhile();
      return urls.map(() => "safe" as const);
    };
    const watched = { ...deps, urlSafety, eventStore: storeWith(eventStore, { read }) };
    const retarget = (to: string) =>
      changeLink(watched, operator, by, address, { type: "patch", patch: { url: to } });
    await retarget("https://example.org/one");
    expect(reads).toHaveLength(1);
    meanwhile = () => changeLink(deps, operator, by, address, { type: "disable" });
    expect((await retarget("https://example.org/two")).link).toMatchObject({
      status: "disabled",
      longUrl: "https://example.org/two",
      changes: 3,
    });
  });
});

describe("an external id", () => {
  it("that a request has claimed and lost is free after some minutes, and at once for the same request", async () => {
    const by = callerOf(await account("developer"), "developer");
    let now = Date.now();
    const clock = () => new Date(now);
    const patient = { ...deps, clock, sleep: async () => undefined };
    const append = () => Promise.reject(new StoreUnavailable("The disk is full"));
    const away = { ...patient, eventStore: storeWith(deps.eventStore, { append }) };
    const create = (on: typeof deps, external_id: string, idempotency?: string) =>
      createLink(on, operator, by, { url: "https://example.com/", external_id }, { idempotency });
    for (const id of ["a", "b"]) await expect(create(away, id, id)).rejects.toThrow(StoreUnavailable);
    await expect(create(patient, "a")).rejects.toMatchObject({ code: "link_claimed", status: 409 });
    expect((await create(patient, "b", "b")).link.externalId).toBe("b");
    // Clocks of other processes may be five minutes ahead.
    now += CLOCK_SKEW_MS;
    await expect(create(patient, "a")).rejects.toMatchObject({ code: "link_claimed" });
    now += 60_001;
    expect((await create(patient, "a")).link.externalId).toBe("a");
    await expect(create(patient, "b")).rejects.toMatchObject({ code: "external_id_taken" });
  });

  it("is free at once where a link's password could not be kept", async () => {
    const by = callerOf(await account("developer"), "developer");
    const request = { url: "https://example.com/", external_id: "order" };
    const put: typeof deps.secrets.put = async (key, record) => {
      if (key.startsWith("link-password/")) throw new StoreUnavailable("The disk is full");
      await deps.secrets.put(key, record);
    };
    const full = { ...deps, secrets: storeWith(deps.secrets, { put }) };
    const failing = createLink(full, operator, by, { ...request, password: "open sesame" });
    await expect(failing).rejects.toThrow(StoreUnavailable);
    expect((await createLink(deps, operator, by, request)).link.externalId).toBe("order");
  });

  it("is given to one of two whose clocks differ by five minutes, while the append of the first is slow", async () => {
    const by = callerOf(await account("developer"), "developer");
    const at = (ms: number) => ({
      ...deps,
      sleep: async () => undefined,
      clock: () => new Date(Date.now() + ms),
    });
    for (const [first, second] of [
      [0, CLOCK_SKEW_MS - 1],
      [CLOCK_SKEW_MS - 1, 0],
    ] as const) {
      const request = { url: "https://example.com/", external_id: `skewed ${first}` };
      const claimed = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const append: typeof deps.eventStore.append = async (...events) => {
        claimed.resolve();
        await asked.promise;
        return await deps.eventStore.append(...events);
      };
      const slow = { ...at(first), eventStore: storeWith(deps.eventStore, { append }) };
      const creating = createLink(slow, operator, by, request);
      await claimed.promise;
      const other = () => createLink(at(second), operator, by, request);
      await expect(other()).rejects.toMatchObject({ code: "link_claimed" });
      asked.resolve();
      await creating;
      await expect(other()).rejects.toMatchObject({ code: "external_id_taken" });
    }
  });

  it("is given to one of many that want it when a link has just given it up, and to none but that one later", async () => {
    const by = callerOf(await account("developer"), "developer");
    const { secrets, eventStore } = deps;
    const slow = async () => setTimeout(Math.random() * 20);
    const putIfPresent: typeof secrets.putIfPresent = async (...record) => {
      await slow();
      return await secrets.putIfPresent(...record);
    };
    const append: typeof eventStore.append = async (...events) => {
      await slow();
      return await eventStore.append(...events);
    };
    const busy = {
      ...deps,
      secrets: storeWith(secrets, { putIfPresent }),
      eventStore: storeWith(eventStore, { append }),
    };
    for (let round = 0; round < 5; round++) {
      const request = { url: "https://example.com/", external_id: `given up ${round}` };
      const { slug } = (await createLink(deps, operator, by, request)).link;
      const address = { host: deps.baseHost, slug };
      const isDeleted = round % 2 === 1;
      const giveUp = isDeleted
        ? ({ type: "delete" } as const)
        : ({ type: "patch", patch: { external_id: null } } as const);
      await changeLink(deps, operator, by, address, giveUp);
      const back = { type: isDeleted ? "restore" : "patch", patch: request } as const;
      const all = [
        ...Array.from({ length: 20 }, () => createLink(busy, operator, by, request)),
        changeLink(busy, operator, by, address, back),
      ];
      const outcomes = await Promise.allSettled(all);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of outcomes)
        if (outcome.status === "rejected")
          expect(["external_id_taken", "link_claimed"]).toContain(outcome.reason.code);
      await expect(createLink(deps, operator, by, request)).rejects.toMatchObject({
        code: "external_id_taken",
      });
    }
  });

  it("is that of its link although no document shows it, and free at once when the link is deleted", async () => {
    const by = callerOf(await account("developer"), "developer");
    const request = { url: "https://example.com/", external_id: "unseen" };
    const behind = { ...deps, linksWithFingerprint: () => Promise.reject(new Refused("links_behind")) };
    for (let round = 0; round < 3; round++) {
      const { slug } = (await createLink(behind, operator, by, request)).link;
      await expect(createLink(behind, operator, by, request)).rejects.toMatchObject({
        code: "external_id_taken",
      });
      await changeLink(behind, operator, by, { host: deps.baseHost, slug }, { type: "delete" });
    }
  });

  it("goes on to the same link when its answer was lost, and the request is repeated a minute later", async () => {
    const by = callerOf(await account("developer"), "developer");
    let now = Date.now();
    const clock = () => new Date(now);
    const append: typeof deps.eventStore.append = async (...events) => {
      await deps.eventStore.append(...events);
      throw new StoreUnavailable("The answer was lost");
    };
    const lost = { ...deps, clock, eventStore: storeWith(deps.eventStore, { append }) };
    const request = { url: "https://example.com/", external_id: "lost" };
    const options = { idempotency: "lost" };
    await expect(createLink(lost, operator, by, request, options)).rejects.toThrow(StoreUnavailable);
    now += 60_001;
    await expect(createLink({ ...deps, clock }, operator, by, request)).rejects.toMatchObject({
      code: "external_id_taken",
    });
    const again = await createLink({ ...deps, clock }, operator, by, request, options);
    expect(again).toMatchObject({ isNew: true, link: { externalId: "lost" } });
  });
});

describe("find_existing", () => {
  const request = { url: "https://example.com/", external_id: "same", find_existing: true };

  it("is refused while the documents may lack the link that there is", async () => {
    const by = callerOf(await account("developer"), "developer");
    const { readStore } = deps;
    const behind = linksWithFingerprint({ readStore, writesAreReadable: async () => false });
    await expect(
      createLink({ ...deps, linksWithFingerprint: behind }, operator, by, request),
    ).rejects.toMatchObject({ code: "links_behind", status: 503 });
    expect((await createLink(deps, operator, by, request)).isNew).toBe(true);
  });

  it("makes one link of twenty requests at once that no document shows, however many were deleted before", async () => {
    const by = callerOf(await account("developer"), "developer");
    const { eventStore } = deps;
    const append: typeof eventStore.append = async (...events) => {
      await setTimeout(Math.random() * 20);
      return await eventStore.append(...events);
    };
    const unseen = {
      ...deps,
      eventStore: storeWith(eventStore, { append }),
      linksWithFingerprint: async () => [],
    };
    for (let round = 0; round < 8; round++) {
      const all = await Promise.all(
        Array.from({ length: 20 }, () => createLink(unseen, operator, by, request)),
      );
      expect(new Set(all.map(({ link }) => link.slug)).size).toBe(1);
      expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
      const slug = all[0]?.link.slug ?? "";
      const late = await createLink(unseen, operator, by, request);
      expect([late.link.slug, late.isNew]).toEqual([slug, false]);
      await changeLink(deps, operator, by, { host: deps.baseHost, slug }, { type: "delete" });
    }
  });
});

describe("a link on a custom domain", () => {
  it("may lead to a name that its owner has added and not verified, which serves no links", async () => {
    const accountId = await account("developer");
    await addDomain(deps, operator, accountId, "www.example.com");
    const by = callerOf(accountId, "developer");
    const { link } = await createLink(deps, operator, by, { url: "https://www.example.com/sale" });
    expect(link.longUrl).toBe("https://www.example.com/sale");
  });

  it("is not led back to that domain by its owner, on the Free tier neither", async () => {
    const accountId = await account("developer");
    const domain_id = await owned(accountId, "go.example.com");
    const request = { url: "https://example.com/", domain_id, customSlug: "loop" };
    await createLink(deps, operator, callerOf(accountId, "developer"), request);
    const address = { host: "go.example.com", slug: "loop" };
    const loop = { type: "patch", patch: { url: "https://go.example.com/loop" } } as const;
    for (const tier of ["developer", "free"] as const)
      await expect(
        changeLink(deps, operator, callerOf(accountId, tier), address, loop),
      ).rejects.toMatchObject({ code: "invalid_url" });
  });
});

describe("creating links in bulk", () => {
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
    const { results, failures } = await createLinksInBulk({ ...deps, eventStore }, operator, by, links);
    expect(results.map(({ index }) => index)).toEqual([0]);
    expect(failures).toMatchObject([
      { index: 1, error: { code: "store_unavailable" } },
      { index: 2, error: { code: "invalid_url" } },
    ]);
  });
});
