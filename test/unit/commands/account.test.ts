// The decider of an account, its keys and its domains, as given-when-then.
import { describe, it } from "vitest";
import {
  type AccountState,
  changeTierTo,
  deactivate,
  evolve,
  issue,
  noAccount,
  open,
} from "../../../src/commands/account/account.ts";
import * as domainOf from "../../../src/commands/domains/domain.ts";
import type { AccountEvent } from "../../../src/events/catalogue.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const accountId = "11111111-1111-4111-8111-111111111111";
const domainId = "22222222-2222-4222-8222-222222222222";
const hostname = "go.example.com";
const at = "2026-01-01T00:00:00.000Z";
const account = deciderOf<AccountState, AccountEvent>(noAccount, evolve);

const opened = (tier: Tier): AccountEvent => ({ type: "AccountOpened", data: { accountId, tier, at } });
const newKey = (n: number) => ({
  keyId: `33333333-3333-4333-8333-33333333333${n}`,
  keyHash: String(n).repeat(64),
  hint: "abcd",
  label: "",
  at,
});
const issued = (n: number): AccountEvent => ({ type: "KeyIssued", data: { accountId, ...newKey(n) } });
const keyOff = (n: number): AccountEvent => ({
  type: "KeyDeactivated",
  data: { accountId, keyId: newKey(n).keyId, at },
});
const added: AccountEvent = { type: "DomainAdded", data: { accountId, hostname, token: "t", at } };
const verified: AccountEvent[] = [
  { type: "DomainVerified", data: { accountId, hostname, domainId, how: "dns", at } },
  { type: "DomainActivated", data: { accountId, hostname, domainId, at } },
];

describe("an account", () => {
  it("is opened once", () => {
    account
      .given()
      .when((a) => open(a, { accountId, tier: "free", at }))
      .thenEvents(opened("free"));
    account
      .given(opened("free"))
      .when((a) => open(a, { accountId, tier: "free", at }))
      .thenRefused("account_exists");
  });

  it("changes its tier, and changes nothing when it has that tier", () => {
    const toDeveloper = (a: AccountState) => changeTierTo(a, { tier: "developer", at });
    account
      .given(opened("free"))
      .when(toDeveloper)
      .thenEvents({ type: "TierChanged", data: { accountId, from: "free", to: "developer", at } });
    account.given(opened("developer")).when(toDeveloper).thenNothing();
    account.given().when(toDeveloper).thenRefused("account_not_found");
  });

  it("refuses every command once it is closed", () => {
    const closed: AccountEvent = { type: "AccountClosed", data: { accountId, at } };
    account
      .given(opened("free"), closed)
      .when((a) => issue(a, newKey(1)))
      .thenRefused("account_not_found");
  });

  it("has at most 2 active keys on Free and 5 on Developer", () => {
    const two = [issued(1), issued(2)];
    const five = [...two, issued(3), issued(4), issued(5)];
    account
      .given(opened("free"), issued(1))
      .when((a) => issue(a, newKey(2)))
      .thenEvents(issued(2));
    account
      .given(opened("free"), ...two)
      .when((a) => issue(a, newKey(3)))
      .thenRefused("key_limit_reached");
    account
      .given(opened("developer"), ...two)
      .when((a) => issue(a, newKey(3)))
      .thenEvents(issued(3));
    account
      .given(opened("developer"), ...five)
      .when((a) => issue(a, newKey(6)))
      .thenRefused("key_limit_reached");
  });

  it("does not count deactivated keys", () => {
    account
      .given(opened("free"), issued(1), issued(2), keyOff(1))
      .when((a) => issue(a, newKey(3)))
      .thenEvents(issued(3));
  });

  it("deactivates a key once, and only its own", () => {
    const off = (a: AccountState) => deactivate(a, { keyId: newKey(1).keyId, at });
    account.given(opened("free"), issued(1)).when(off).thenEvents(keyOff(1));
    account.given(opened("free"), issued(1), keyOff(1)).when(off).thenNothing();
    account.given(opened("free")).when(off).thenRefused("key_not_found");
  });
});

describe("a domain of an account", () => {
  const add = (a: AccountState) => domainOf.add(a, { hostname, token: "t", at });
  const verify = (a: AccountState) => domainOf.verify(a, { hostname, domainId, how: "dns", at });
  const owned = [opened("developer"), added, ...verified];

  it("is added on the Developer tier only, and once", () => {
    account.given(opened("developer")).when(add).thenEvents(added);
    account.given(opened("developer"), added).when(add).thenNothing();
    account.given(opened("free")).when(add).thenRefused("tier_required");
  });

  it("gets its id by verification and is active immediately", () => {
    account
      .given(opened("developer"), added)
      .when(verify)
      .thenEvents(...verified);
    account
      .given(...owned)
      .when(verify)
      .thenNothing();
    account.given(opened("developer")).when(verify).thenRefused("domain_not_found");
  });

  it("is deactivated and activated again, each once", () => {
    const on = (a: AccountState) => domainOf.activate(a, { domainId, at });
    const off = (a: AccountState) => domainOf.deactivate(a, { domainId, at });
    const wasOff: AccountEvent = { type: "DomainDeactivated", data: { accountId, hostname, domainId, at } };
    account
      .given(...owned)
      .when(off)
      .thenEvents(wasOff);
    account
      .given(...owned, wasOff)
      .when(off)
      .thenNothing();
    account
      .given(...owned, wasOff)
      .when(on)
      .thenEvents({ ...wasOff, type: "DomainActivated" });
    account
      .given(...owned)
      .when(on)
      .thenNothing();
    account.given(opened("developer"), added).when(on).thenRefused("domain_not_found");
  });

  it("is removed with or without an id, and can be added anew", () => {
    const remove = (a: AccountState) => domainOf.remove(a, { hostname, at });
    const removed: AccountEvent = { type: "DomainRemoved", data: { accountId, hostname, domainId, at } };
    account
      .given(...owned)
      .when(remove)
      .thenEvents(removed);
    account
      .given(opened("developer"), added)
      .when(remove)
      .thenEvents({ type: "DomainRemoved", data: { accountId, hostname, at } });
    account
      .given(...owned, removed)
      .when(remove)
      .thenNothing();
    account
      .given(...owned, removed)
      .when(add)
      .thenEvents(added);
  });
});
