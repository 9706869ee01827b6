// The decider of an account, its keys and its domains, as given-when-then.
import { describe, it } from "vitest";
import {
  type AccountState,
  changeTierTo,
  evolve,
  noAccount,
  open,
} from "../../../src/commands/account/account.ts";
import { deactivate, issue, rotate } from "../../../src/commands/account/decide-key.ts";
import { changeTimeZoneTo } from "../../../src/commands/account/decide-settings.ts";
import { colour, passColour } from "../../../src/commands/account/tag-colours.ts";
import * as domainOf from "../../../src/commands/domains/decide-domain.ts";
import { removeFilter, saveFilter } from "../../../src/commands/links/saved-filters.ts";
import type { AccountEvent } from "../../../src/events/catalogue.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const operator = { type: "operator" } as const;
const accountId = "11111111-1111-4111-8111-111111111111";
const domainId = "22222222-2222-4222-8222-222222222222";
const hostname = "go.example.com";
const at = "2026-01-01T00:00:00.000Z";
const later = "2026-01-02T00:00:00.000Z";
const latest = "2026-01-03T00:00:00.000Z";
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
    account([], (a) => open(a, { accountId, tier: "free", at }), [opened("free")]);
    account([opened("free")], (a) => open(a, { accountId, tier: "free", at }), "account_exists");
  });

  it("changes its tier, and changes nothing when it has that tier", () => {
    const toDeveloper = (a: AccountState) => changeTierTo(a, { tier: "developer", at });
    account([opened("free")], toDeveloper, [
      { type: "TierChanged", data: { accountId, from: "free", to: "developer", at } },
    ]);
    account([opened("developer")], toDeveloper, []);
    account([], toDeveloper, "account_not_found");
  });

  it("keeps the time zone of its numbers, and changes nothing when it is that one", () => {
    const berlin: AccountEvent = {
      type: "TimeZoneChosen",
      data: { accountId, timeZone: "Europe/Berlin", at },
    };
    const chosen = (timeZone: string | null) => (a: AccountState) => changeTimeZoneTo(a, { timeZone, at });
    account([opened("free")], chosen("Europe/Berlin"), [berlin]);
    account([opened("free"), berlin], chosen("Europe/Berlin"), []);
    account([opened("free"), berlin], chosen(null), [
      { type: "TimeZoneChosen", data: { accountId, timeZone: null, at } },
    ]);
    account([opened("free")], chosen(null), []);
    account([], chosen(null), "account_not_found");
  });

  it("refuses every command once it is closed", () => {
    const closed: AccountEvent = { type: "AccountClosed", data: { accountId, at } };
    account([opened("free"), closed], (a) => issue(a, newKey(1), operator), "account_not_found");
  });

  it("has at most 2 active keys on Free and 5 on Developer", () => {
    const two = [issued(1), issued(2)];
    const five = [...two, issued(3), issued(4), issued(5)];
    account([opened("free"), issued(1)], (a) => issue(a, newKey(2), operator), [issued(2)]);
    account([opened("free"), ...two], (a) => issue(a, newKey(3), operator), "key_limit_reached");
    account([opened("developer"), ...two], (a) => issue(a, newKey(3), operator), [issued(3)]);
    account([opened("developer"), ...five], (a) => issue(a, newKey(6), operator), "key_limit_reached");
  });

  it("has room for another key once one has expired", () => {
    const expiring: AccountEvent = { type: "KeyIssued", data: { accountId, ...newKey(1), expiresAt: later } };
    account([opened("free"), expiring, issued(2)], (a) => issue(a, newKey(3), operator), "key_limit_reached");
    account([opened("free"), expiring, issued(2)], (a) => issue(a, { ...newKey(3), at: later }, operator), [
      { type: "KeyIssued", data: { accountId, ...newKey(3), at: later } },
    ]);
  });

  it("rotates a key within the limit, for no longer than the key lasts, and once a form", () => {
    const { keyId } = newKey(1);
    const secret = { keyId, keyHash: "9".repeat(64), hint: "wxyz", at };
    const rotated = (previousUntil: string): AccountEvent => ({
      type: "KeyRotated",
      data: { accountId, ...secret, previousUntil },
    });
    const turn = (until: string, ofHint?: string) => (a: AccountState) =>
      rotate(a, { ...secret, until }, operator, ofHint);
    account([opened("free"), issued(1), issued(2)], turn(latest, "abcd"), [rotated(latest)]);
    const expiring: AccountEvent = { type: "KeyIssued", data: { accountId, ...newKey(1), expiresAt: later } };
    account([opened("free"), expiring], turn(latest), [rotated(later)]);
    account([opened("free"), issued(1), rotated(latest)], turn(latest, "abcd"), "key_exists");
    account([opened("free"), issued(1), keyOff(1)], turn(latest), "key_not_active");
    const often = Array.from({ length: 10 }, () => rotated(latest));
    account([opened("free"), issued(1), ...often], turn(latest), "key_limit_reached");
    account([opened("free"), issued(1), ...often], turn(at), [rotated(at)]);
    const over: AccountEvent = { type: "KeyIssued", data: { accountId, ...newKey(1), expiresAt: at } };
    account([opened("free"), over], turn(latest), "key_not_active");
    account([opened("free")], turn(latest), "key_not_found");
  });

  it("deactivates a key once, and only its own", () => {
    const off = (a: AccountState) => deactivate(a, { keyId: newKey(1).keyId, at }, operator);
    account([opened("free"), issued(1)], off, [keyOff(1)]);
    account([opened("free"), issued(1), keyOff(1)], off, []);
    account([opened("free")], off, "key_not_found");
  });
});

describe("a tag of an account", () => {
  const coloured = (tag: string, wanted: "red" | "green" | null): AccountEvent => ({
    type: "TagColoured",
    data: { accountId, tag, colour: wanted, at },
  });
  const paint = (tag: string, wanted: "red" | "green" | null) => (state: AccountState) =>
    colour(state, { tag, colour: wanted, at });
  const pass = (from: string, to: string) => (state: AccountState) => passColour(state, { from, to, at });

  it("has a colour, gets another, and loses it, each once", () => {
    const given = [opened("free"), coloured("a", "red")];
    account([opened("free")], paint("a", "red"), [coloured("a", "red")]);
    account([opened("free")], paint("a", null), []);
    account(given, paint("a", "red"), []);
    account(given, paint("a", "green"), [coloured("a", "green")]);
    account(given, paint("a", null), [coloured("a", null)]);
    account([], paint("a", "red"), "account_not_found");
  });

  it("passes its colour on to the name that it gets, unless that has one", () => {
    const given = [opened("free"), coloured("a", "red")];
    account(given, pass("a", "b"), [coloured("a", null), coloured("b", "red")]);
    account([...given, coloured("b", "green")], pass("a", "b"), [coloured("a", null)]);
    account(given, pass("b", "a"), []);
    account(given, pass("a", "a"), []);
  });

  it("is one of at most 500 with a colour", () => {
    const many = Array.from({ length: 500 }, (_, n) => coloured(`tag ${n}`, "red"));
    account([opened("free"), ...many], paint("one more", "red"), "history_full");
    account([opened("free"), ...many], paint("tag 7", "green"), [coloured("tag 7", "green")]);
    account([opened("free"), ...many, coloured("tag 7", null)], paint("one more", "red"), [
      coloured("one more", "red"),
    ]);
  });
});

describe("a saved filter of an account", () => {
  const saved = (name: string, tag: string | null): AccountEvent => ({
    type: "FilterSaved",
    data: { accountId, name, filter: tag === null ? null : { tag }, at },
  });
  const save = (name: string, tag: string) => (state: AccountState) =>
    saveFilter(state, { name, filter: { tag }, at });
  const remove = (name: string) => (state: AccountState) => removeFilter(state, { name, at });

  it("is kept, replaced and removed under its name, each once", () => {
    const kept = [opened("free"), saved("a", "x")];
    account([opened("free")], save("a", "x"), [saved("a", "x")]);
    account(kept, save("a", "x"), []);
    account(kept, save("a", "y"), [saved("a", "y")]);
    account(kept, remove("a"), [saved("a", null)]);
    account([...kept, saved("a", null)], remove("a"), "filter_not_found");
    account([], save("a", "x"), "account_not_found");
  });

  it("is one of at most 50", () => {
    const many = Array.from({ length: 50 }, (_, n) => saved(`filter ${n}`, "x"));
    account([opened("free"), ...many], save("one more", "x"), "history_full");
    account([opened("free"), ...many], save("filter 7", "y"), [saved("filter 7", "y")]);
  });
});

describe("a domain of an account", () => {
  const add = (a: AccountState) => domainOf.add(a, { hostname, token: "t", at });
  const verify = (a: AccountState) => domainOf.verify(a, { hostname, domainId, how: "dns", at });
  const owned = [opened("developer"), added, ...verified];

  it("is added on the Developer tier only, and once", () => {
    account([opened("developer")], add, [added]);
    account([opened("developer"), added], add, []);
    account([opened("free")], add, "tier_required");
  });

  it("gets its id by verification and is active immediately", () => {
    account([opened("developer"), added], verify, verified);
    account(owned, verify, []);
    account([opened("developer")], verify, "domain_not_found");
  });

  it("is deactivated and activated again, each once", () => {
    const on = (a: AccountState) => domainOf.activate(a, { domainId, at });
    const off = (a: AccountState) => domainOf.deactivate(a, { domainId, at });
    const wasOff: AccountEvent = { type: "DomainDeactivated", data: { accountId, hostname, domainId, at } };
    account(owned, off, [wasOff]);
    account([...owned, wasOff], off, []);
    account([...owned, wasOff], on, [{ ...wasOff, type: "DomainActivated" }]);
    account(owned, on, []);
    account([opened("developer"), added], on, "domain_not_found");
  });

  it("is removed with or without an id, and can be added anew", () => {
    const remove = (a: AccountState) => domainOf.remove(a, { hostname, at });
    const removed: AccountEvent = { type: "DomainRemoved", data: { accountId, hostname, domainId, at } };
    account(owned, remove, [removed]);
    account([opened("developer"), added], remove, [
      { type: "DomainRemoved", data: { accountId, hostname, at } },
    ]);
    account([...owned, removed], remove, []);
    account([...owned, removed], add, [added]);
  });
});
