// Invariants of the deciders for any order of commands and events.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as accounts from "../../src/commands/account/account.ts";
import * as keys from "../../src/commands/account/decide-key.ts";
import { acceptUrl } from "../../src/commands/links/accept-url.ts";
import { derivedId, slugDerivation } from "../../src/commands/links/derived-identity.ts";
import * as links from "../../src/commands/links/link.ts";
import { isClientError } from "../../src/commands/refusals.ts";
import * as webhooks from "../../src/commands/webhooks/decide-webhook.ts";
import type { AccountEvent, LinkEvent } from "../../src/events/catalogue.ts";
import { INTERFACE_LIMITS, TIERS } from "../../src/events/vocabulary.ts";
import { anyText } from "../support/runtime/any-text.ts";

const operator = { type: "operator" } as const;
const accountId = "11111111-1111-4111-8111-111111111111";
const domainId = "22222222-2222-4222-8222-222222222222";
const at = "2026-01-01T00:00:00.000Z";
const keyId = fc.integer({ min: 0, max: 7 }).map((n) => `33333333-3333-4333-8333-33333333333${n}`);
const tier = fc.constantFrom(...TIERS);
const hostname = fc.constantFrom("a.example.com", "b.example.com");

const accountEvent: fc.Arbitrary<AccountEvent> = fc.oneof(
  tier.map((to): AccountEvent => ({ type: "AccountOpened", data: { accountId, tier: to, at } })),
  tier.map((to): AccountEvent => ({ type: "TierChanged", data: { accountId, from: "free", to, at } })),
  fc.constant<AccountEvent>({ type: "AccountClosed", data: { accountId, at } }),
  keyId.map((id): AccountEvent => ({ type: "KeyDeactivated", data: { accountId, keyId: id, at } })),
  hostname.map(
    (name): AccountEvent => ({ type: "DomainAdded", data: { accountId, hostname: name, token: "t", at } }),
  ),
  hostname.map(
    (name): AccountEvent => ({
      type: "DomainVerified",
      data: { accountId, hostname: name, domainId, how: "dns", at },
    }),
  ),
  hostname.map(
    (name): AccountEvent => ({ type: "DomainActivated", data: { accountId, hostname: name, domainId, at } }),
  ),
  hostname.map((name): AccountEvent => ({ type: "DomainRemoved", data: { accountId, hostname: name, at } })),
);

/** Appends a decision's events to a history; a refusal leaves it unchanged. */
function step<S, E>(state: S, evolve: (state: S, event: E) => S, decide: (state: S) => readonly E[]): S {
  try {
    return decide(state).reduce(evolve, state);
  } catch (error) {
    if (isClientError(error)) return state;
    throw error;
  }
}

describe("deciders", () => {
  it("never let an account issue a key beyond its tier's limit", () => {
    const command = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ type: "issue" as const }) },
      { weight: 2, arbitrary: keyId.map((id) => ({ type: "deactivate" as const, keyId: id })) },
      { weight: 1, arbitrary: tier.map((to) => ({ type: "tier" as const, tier: to })) },
    );
    fc.assert(
      fc.property(tier, fc.array(command, { maxLength: 60 }), (first, commands) => {
        const opened = accounts.open(accounts.noAccount, { accountId, tier: first, at });
        let state = opened.reduce(accounts.evolve, accounts.noAccount);
        let issued = 0;
        for (const command of commands) {
          const before = activeOf(state);
          state = step<accounts.AccountState, AccountEvent>(state, accounts.evolve, (account) => {
            if (command.type === "tier") return accounts.changeTierTo(account, { tier: command.tier, at });
            if (command.type === "deactivate")
              return keys.deactivate(account, { keyId: command.keyId, at }, operator);
            const id = `33333333-3333-4333-8333-33333333333${issued++ % 8}`;
            return keys.issue(
              account,
              { keyId: id, keyHash: "0".repeat(64), hint: "", label: "", at },
              operator,
            );
          });
          const after = activeOf(state);
          const limit = state.status === "open" ? INTERFACE_LIMITS[state.tier].activeKeys : 0;
          if (after > before) expect(after).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  it("never let an account have more than five webhooks, or add one on Free", () => {
    const number = fc.nat({ max: 7 });
    const command = fc.oneof(
      { weight: 6, arbitrary: number.map((n) => ({ type: "add" as const, n })) },
      { weight: 2, arbitrary: number.map((n) => ({ type: "remove" as const, n })) },
      { weight: 2, arbitrary: number.map((n) => ({ type: "pause" as const, n })) },
      { weight: 1, arbitrary: tier.map((to) => ({ type: "tier" as const, tier: to })) },
    );
    const idOf = (n: number) => `44444444-4444-4444-8444-44444444444${n}`;
    const settings = { url: "https://a.example/", kinds: ["click" as const], label: "", keyHint: "abcd", at };
    fc.assert(
      fc.property(tier, fc.array(command, { maxLength: 60 }), (first, commands) => {
        const opened = accounts.open(accounts.noAccount, { accountId, tier: first, at });
        let state = opened.reduce(accounts.evolve, accounts.noAccount);
        for (const command of commands) {
          const before = liveWebhooks(state);
          state = step<accounts.AccountState, AccountEvent>(state, accounts.evolve, (account) => {
            if (command.type === "tier") return accounts.changeTierTo(account, { tier: command.tier, at });
            const webhookId = idOf(command.n);
            if (command.type === "remove") return webhooks.remove(account, { webhookId, at });
            if (command.type === "pause") return webhooks.pause(account, { webhookId, by: "user", at });
            return webhooks.add(account, { ...settings, webhookId });
          });
          expect(liveWebhooks(state)).toBeLessThanOrEqual(5);
          if (liveWebhooks(state) > before) expect(state).toMatchObject({ tier: "developer" });
        }
      }),
    );
  });

  it("fold any history of account events without failing", () => {
    fc.assert(
      fc.property(fc.array(accountEvent, { maxLength: 40 }), (history) => {
        const state = history.reduce<accounts.AccountState>(accounts.evolve, accounts.noAccount);
        expect(["absent", "open", "closed"]).toContain(state.status);
      }),
    );
  });

  it("return no events for a repeated command", () => {
    const change: fc.Arbitrary<links.LinkChange> = fc.oneof(
      fc.constantFrom<links.LinkChange>(
        { type: "disable" },
        { type: "enable" },
        { type: "delete" },
        { type: "restore" },
      ),
      fc
        .constantFrom("https://a.example/", "https://b.example/")
        .map((to) => ({ type: "retarget" as const, to })),
    );
    const facts = { host: "h", slug: "s", accountId, longUrl: "https://a.example/", shortUrl: "http://h/s" };
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const made = links.create(links.freeLink, { ...facts, createdAt: at, via: "api", custom: false });
        let state = made.reduce(links.evolve, links.freeLink);
        for (const command of changes) {
          const decide = (link: links.LinkState) =>
            links.change(link, { by: accountId, at, change: command });
          const next = step<links.LinkState, LinkEvent>(state, links.evolve, decide);
          expect(step<links.LinkState, LinkEvent>(next, links.evolve, decide)).toEqual(next);
          if (next !== state) expect(decide(next)).toEqual([]);
          state = next;
        }
      }),
    );
  });
});

describe("accepted URLs", () => {
  it("are plain ASCII without spaces, at most 8,192 characters, and lead where the given one did", async () => {
    const deps = {
      baseUrl: "https://lnk.example",
      baseHost: "lnk.example",
      urlSafety: async () => ["safe" as const],
    };
    const given = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string(),
      prefixed(),
    );
    await fc.assert(
      fc.asyncProperty(given, async (url) => {
        try {
          const { longUrl: kept } = await acceptUrl(deps, url, []);
          expect(kept).toMatch(/^https?:\/\/[!-~]+$/i);
          expect(kept.length).toBeLessThanOrEqual(8192);
          expect(new URL(kept).href).toBe(new URL(url).href);
        } catch (error) {
          if (!isClientError(error)) throw error;
        }
      }),
    );
  });
});

describe("derived identity", () => {
  it("is the same for the same parts and another for others", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(derivedId(...a) === derivedId(...b)).toBe(same);
        expect(derivedId(...a)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  it("of a link gives each scope, attempt and secret of the service a slug of its own, always the same", () => {
    const secret = fc.string({ minLength: 32, maxLength: 40 });
    const given = fc.tuple(secret, fc.string(), fc.nat({ max: 4 }));
    const slugOf = ([key, scope, attempt]: [string, string, number]) => slugDerivation(key)(scope, attempt);
    fc.assert(
      fc.property(given, given, (a, b) => {
        expect(slugOf(a)).toMatch(/^[a-z2-9]{7}$/);
        expect(slugOf(a) === slugOf(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
        expect(slugOf([`${a[0]}!`, a[1], a[2]])).not.toBe(slugOf(a));
      }),
    );
  });
});

function prefixed() {
  return anyText(40).map((path) => `https://e.example/${path}`);
}

function activeOf(state: accounts.AccountState): number {
  return state.status === "open" ? keys.activeKeys(state, at) : 0;
}

function liveWebhooks(account: accounts.AccountState): number {
  if (account.status !== "open") return 0;
  return [...account.webhooks.values()].filter(({ status }) => status !== "removed").length;
}
