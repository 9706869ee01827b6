// The lifecycle projections: documents of accounts, keys, domains and links of given events.
import { describe, expect, it } from "vitest";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { accountLinks } from "../../../src/projections/definitions/account-links.ts";
import { accounts } from "../../../src/projections/definitions/accounts.ts";
import { domains } from "../../../src/projections/definitions/domains.ts";
import { keys } from "../../../src/projections/definitions/keys.ts";
import { links } from "../../../src/projections/definitions/links.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import type { Document } from "../../../src/read-store/port.ts";
import {
  ACCOUNT,
  AT,
  DOMAIN,
  KEY,
  linkCreated,
  OTHER_ACCOUNT,
  stored,
} from "../../support/event-store/stored-events.ts";
import { plainFold } from "../../support/projections/plain-fold.ts";

const LATER = "2026-03-02T00:00:00.000Z";
const ofAccount = { accountId: ACCOUNT, at: AT };
const opened: LinkledgerEvent = { type: "AccountOpened", data: { ...ofAccount, tier: "free" } };
const issued: LinkledgerEvent = {
  type: "KeyIssued",
  data: { ...ofAccount, keyId: KEY, keyHash: "a".repeat(64), hint: "wxyz", label: "ci" },
};
const hostname = "go.example.com";
const added: LinkledgerEvent = { type: "DomainAdded", data: { ...ofAccount, hostname, token: "t1" } };
const verified: LinkledgerEvent = {
  type: "DomainVerified",
  data: { ...ofAccount, hostname, domainId: DOMAIN, how: "dns" },
};
const activated: LinkledgerEvent = {
  type: "DomainActivated",
  data: { ...ofAccount, hostname, domainId: DOMAIN },
};
const ofLink = { host: "sho.rt", slug: "abc", accountId: ACCOUNT, at: LATER };

function given<D extends Document>(projection: Projection<D>, events: LinkledgerEvent[]): D[] {
  return [
    ...plainFold(
      projection,
      events.map((event, n) => stored(n, event)),
    ).values(),
  ];
}

describe("accounts", () => {
  it("are open with their tier from the start", () => {
    expect(given(accounts, [opened])).toMatchObject([
      { _id: ACCOUNT, tier: "free", status: "open", openedAt: AT },
    ]);
  });

  it("take a new tier, and stay known after closing", () => {
    const changed: LinkledgerEvent = {
      type: "TierChanged",
      data: { ...ofAccount, from: "free", to: "developer" },
    };
    const closed: LinkledgerEvent = { type: "AccountClosed", data: ofAccount };
    expect(given(accounts, [opened, changed])).toMatchObject([{ tier: "developer", status: "open" }]);
    expect(given(accounts, [opened, changed, closed])).toMatchObject([
      { tier: "developer", status: "closed" },
    ]);
  });
});

describe("keys", () => {
  it("are active from issue to deactivation", () => {
    expect(given(keys, [opened, issued])).toMatchObject([
      {
        _id: KEY,
        accountId: ACCOUNT,
        keyHash: "a".repeat(64),
        hint: "wxyz",
        label: "ci",
        status: "active",
        issuedAt: AT,
      },
    ]);
    const deactivated: LinkledgerEvent = { type: "KeyDeactivated", data: { ...ofAccount, keyId: KEY } };
    expect(given(keys, [opened, issued, deactivated])).toMatchObject([
      { status: "deactivated", label: "ci" },
    ]);
  });
});

describe("domains", () => {
  it("have no id until they are verified, and are inactive until activated", () => {
    expect(given(domains, [added])).toMatchObject([
      { domainId: null, state: "added", active: false, token: "t1" },
    ]);
    expect(given(domains, [added, verified])).toMatchObject([
      { domainId: DOMAIN, state: "verified", active: false },
    ]);
    expect(given(domains, [added, verified, activated])).toMatchObject([{ state: "verified", active: true }]);
  });

  it("are inactive once deactivated or removed, and start afresh when added again", () => {
    const deactivated: LinkledgerEvent = { ...activated, type: "DomainDeactivated" } as LinkledgerEvent;
    const removed: LinkledgerEvent = {
      type: "DomainRemoved",
      data: { ...ofAccount, hostname, domainId: DOMAIN },
    };
    const life = [added, verified, activated];
    expect(given(domains, [...life, deactivated])).toMatchObject([{ state: "verified", active: false }]);
    expect(given(domains, [...life, removed])).toMatchObject([{ state: "removed", active: false }]);
    expect(given(domains, [...life, removed, added])).toMatchObject([{ state: "added", domainId: null }]);
  });

  it("are one document for each account and hostname", () => {
    const other = { ...added, data: { ...added.data, accountId: KEY } } as LinkledgerEvent;
    expect(given(domains, [added, other]).map(({ _id }) => _id)).toEqual([
      `${ACCOUNT}/${hostname}`,
      `${KEY}/${hostname}`,
    ]);
  });
});

describe("links", () => {
  it("are live from creation, on the default domain without a domain id", () => {
    expect(given(links, [linkCreated()])).toMatchObject([
      {
        _id: "sho.rt/abc",
        slug: "abc",
        keyId: KEY,
        status: "live",
        deleted: false,
        domainId: null,
        createdAt: AT,
      },
    ]);
  });

  it("follow retargeting, disabling, enabling, deletion and restoring, with the stream's revision", () => {
    const retargeted: LinkledgerEvent = {
      type: "LinkRetargeted",
      data: { ...ofLink, from: "https://example.com/", to: "https://example.com/new" },
    };
    const events: LinkledgerEvent[] = [linkCreated(), retargeted];
    expect(given(links, events)).toMatchObject([
      { longUrl: "https://example.com/new", revision: 1, changedAt: LATER, createdAt: AT },
    ]);
    const steps = [
      ["LinkDisabled", "disabled"],
      ["LinkEnabled", "live"],
      ["LinkDeleted", "deleted"],
      ["LinkRestored", "live"],
      ["LinkDisabled", "disabled"],
      ["LinkDeleted", "deleted"],
      ["LinkRestored", "disabled"],
    ] as const;
    for (const [type, status] of steps) {
      events.push({ type, data: ofLink });
      expect(given(links, events)).toMatchObject([{ status, deleted: status === "deleted" }]);
    }
  });
});

describe("the links of an account", () => {
  it("are counted when they are created, deleted and restored, for each account", () => {
    const slugs = ["a", "b", "c"].map((slug) => linkCreated({ slug }));
    const deleted: LinkledgerEvent = { type: "LinkDeleted", data: ofLink };
    const restored: LinkledgerEvent = { type: "LinkRestored", data: ofLink };
    const disabled: LinkledgerEvent = { type: "LinkDisabled", data: ofLink };
    const foreign = linkCreated({ slug: "d", accountId: OTHER_ACCOUNT });
    expect(given(accountLinks, [...slugs, foreign, disabled, deleted])).toMatchObject([
      { _id: ACCOUNT, links: 2, deleted: 1 },
      { _id: OTHER_ACCOUNT, links: 1, deleted: 0 },
    ]);
    expect(given(accountLinks, [...slugs, deleted, restored])).toMatchObject([{ links: 3, deleted: 0 }]);
  });
});
