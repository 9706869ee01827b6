// The deciders of a link and of a hostname claim, as given-when-then.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as claims from "../../../src/commands/domains/decide-domain.ts";
import {
  change,
  changeByOperator,
  changeTogether,
  create,
  evolve,
  freeLink,
  type LinkChange,
  type LinkState,
  type OperatorChange,
} from "../../../src/commands/links/link.ts";
import type { DomainEvent, LinkEvent } from "../../../src/events/catalogue.ts";
import type { OptionChanges } from "../../../src/events/link-options.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const accountId = "11111111-1111-4111-8111-111111111111";
const other = "44444444-4444-4444-8444-444444444444";
const at = "2026-01-01T00:00:00.000Z";
const of = { host: "localhost", slug: "abc", accountId, at };
const made = {
  longUrl: "https://example.com/",
  shortUrl: "http://localhost/abc",
  via: "api",
  custom: false,
} as const;
const created: LinkEvent = { type: "LinkCreated", data: { ...of, ...made } };
const disabled: LinkEvent = { type: "LinkDisabled", data: of };
const deleted: LinkEvent = { type: "LinkDeleted", data: of };
const restored: LinkEvent = { type: "LinkRestored", data: of };
const link = deciderOf<LinkState, LinkEvent>(freeLink, evolve);
const changed =
  (wanted: LinkChange, by = accountId) =>
  (state: LinkState) =>
    change(state, { by, at, change: wanted });

const blocked: LinkEvent = { type: "LinkBlocked", data: { ...of, reason: "Phishing" } };
const unblocked: LinkEvent = { type: "LinkUnblocked", data: of };
const operated = (wanted: OperatorChange) => (state: LinkState) =>
  changeByOperator(state, { at, change: wanted });

describe("a link", () => {
  const make = (state: LinkState) => {
    const { at: createdAt, ...facts } = { ...of, ...made };
    return create(state, { ...facts, createdAt });
  };

  it("is created on a free slug only; a deleted link keeps its slug", () => {
    link([], make, [created]);
    link([created], make, "slug_taken");
    link([created, deleted], make, "slug_taken");
  });

  it("is retargeted, and changes nothing when it goes there already", () => {
    const { longUrl: from } = made;
    const to = "https://example.org/";
    link([created], changed({ type: "retarget", to }), [
      { type: "LinkRetargeted", data: { ...of, from, to } },
    ]);
    link([created], changed({ type: "retarget", to: from }), []);
  });

  it("is disabled and enabled, each once", () => {
    link([created], changed({ type: "disable" }), [disabled]);
    link([created, disabled], changed({ type: "disable" }), []);
    link([created, disabled], changed({ type: "enable" }), [{ type: "LinkEnabled", data: of }]);
    link([created], changed({ type: "enable" }), []);
  });

  it("is deleted and restored, each once; nothing else happens to a deleted link", () => {
    link([created], changed({ type: "delete" }), [deleted]);
    link([created, deleted], changed({ type: "delete" }), []);
    link([created, deleted], changed({ type: "restore" }), [restored]);
    link([created, deleted, restored], changed({ type: "restore" }), []);
    link([created, deleted], changed({ type: "disable" }), "link_deleted");
  });

  it("is blocked by the operator in any state, again for another reason, and unblocked once", () => {
    const block = { type: "block", reason: "Phishing", legal: false } as const;
    for (const before of [[created], [created, disabled], [created, deleted], [created, blocked, unblocked]])
      link(before, operated(block), [blocked]);
    link([created, blocked], operated(block), []);
    link([created, blocked], operated({ ...block, legal: true }), [
      { type: "LinkBlocked", data: { ...of, reason: "Phishing", legal: true } },
    ]);
    link([created, blocked], operated({ type: "unblock" }), [unblocked]);
    link([created], operated({ type: "unblock" }), []);
    link([], operated(block), "link_not_found");
  });

  const optionsChanged = (changes: OptionChanges): LinkEvent => ({
    type: "LinkOptionsChanged",
    data: { ...of, changes },
  });

  it("is given options, changed and cleared ones alone, each once", () => {
    const set = (options: OptionChanges) => changed({ type: "set", options });
    const title = optionsChanged({ title: "a", tags: ["x"] });
    link([created], set({ title: "a", tags: ["x"], comments: null }), [title]);
    link([created, title], set({ title: "a", tags: ["x"] }), []);
    link([created, title], set({ title: "b", tags: ["x"] }), [optionsChanged({ title: "b" })]);
    link([created, title], set({ title: null, comments: null }), [optionsChanged({ title: null })]);
    link([created, title, optionsChanged({ title: null })], set({ title: null }), []);
    link([created], set({}), []);
    link([created, deleted], set({ title: "a" }), "link_deleted");
    link([created, blocked], set({ title: "a" }), "blocked_by_operator");
    link([], set({ title: "a" }), "link_not_found");
  });

  it("gets a tag instead of another in its place, one more, or one less, and keeps the others", () => {
    const tagged = (tags: string[] | null) => optionsChanged({ tags });
    const retag = (from: string | undefined, to: string | undefined) => changed({ type: "retag", from, to });
    const given = [created, tagged(["a", "b", "c"])];
    link(given, retag("b", "x"), [tagged(["a", "x", "c"])]);
    link(given, retag("b", "c"), [tagged(["a", "c"])]);
    link(given, retag("b", undefined), [tagged(["a", "c"])]);
    link(given, retag(undefined, "d"), [tagged(["a", "b", "c", "d"])]);
    link(given, retag(undefined, "a"), []);
    link(given, retag("none", "d"), []);
    link([created, tagged(["a"])], retag("a", undefined), [tagged(null)]);
    const ten = [..."abcdefghij"];
    link([created, tagged(ten)], retag(undefined, "k"), "invalid_request");
    link([created, tagged(ten)], retag("a", "k"), [tagged(["k", ...ten.slice(1)])]);
    link([...given, deleted], retag("a", "d"), "link_deleted");
  });

  it("is not active after it expires, by one change or by two", () => {
    const [from, until] = ["2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"];
    const set = (options: OptionChanges) => changed({ type: "set", options });
    link([created], set({ activeFrom: from, expiresAt: until }), [
      optionsChanged({ activeFrom: from, expiresAt: until }),
    ]);
    link([created], set({ activeFrom: until, expiresAt: from }), "invalid_request");
    link([created, optionsChanged({ activeFrom: until })], set({ expiresAt: until }), "invalid_request");
    link([created, optionsChanged({ activeFrom: until })], set({ activeFrom: null, expiresAt: from }), [
      optionsChanged({ activeFrom: null, expiresAt: from }),
    ]);
  });

  it("is changed in several ways together, each of what the ones before it make, or not at all", () => {
    const to = "https://example.org/";
    const together = (changes: LinkChange[], ifRevision?: number[]) => (state: LinkState) =>
      changeTogether(state, { by: accountId, at, changes, ifRevision });
    const retarget = { type: "retarget", to } as const;
    const retargeted: LinkEvent = { type: "LinkRetargeted", data: { ...of, from: made.longUrl, to } };
    const titled = { type: "set", options: { title: "a" } } as const;
    const both = [retargeted, optionsChanged({ title: "a" }), disabled];
    link([created], together([retarget, titled, { type: "disable" }]), both);
    link([created, ...both], together([retarget, titled, { type: "disable" }]), []);
    link([created], together([retarget, retarget]), [retargeted]);
    link([created], together([{ type: "delete" }, titled]), "link_deleted");
    link([created], together([titled], [0]), [optionsChanged({ title: "a" })]);
    link([created, disabled], together([titled], [3, 1]), [optionsChanged({ title: "a" })]);
    for (const seen of [[], [0], [2, 3]])
      link([created, disabled], together([titled], seen), "precondition_failed");
    link([], together([titled], [0]), "link_not_found");
  });

  it("can be disabled and deleted while it is blocked, and nothing else", () => {
    const refused: [LinkChange, LinkEvent[]][] = [
      [{ type: "retarget", to: "https://example.org/" }, [created, blocked]],
      [{ type: "enable" }, [created, disabled, blocked]],
      [{ type: "restore" }, [created, blocked, deleted]],
    ];
    for (const [wanted, before] of refused) link(before, changed(wanted), "blocked_by_operator");
    link([created, blocked], changed({ type: "disable" }), [disabled]);
    link([created, blocked], changed({ type: "delete" }), [deleted]);
    link([created, disabled, blocked, unblocked], changed({ type: "enable" }), [
      { type: "LinkEnabled", data: of },
    ]);
  });

  it("is after deleting and restoring what it was before, whatever was done to it", () => {
    const types = ["disable", "enable", "delete", "restore"] as const;
    const run = (state: LinkState, ...wanted: (typeof types)[number][]) =>
      wanted.reduce((now, type) => {
        const isRefused = now.status === "deleted" && type !== "restore" && type !== "delete";
        return isRefused ? now : changed({ type })(now).reduce(evolve, now);
      }, state);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...types)), (history) => {
        const before = run(evolve(freeLink, created), ...history, "restore");
        expect(run(before, "delete", "restore").status).toBe(before.status);
      }),
    );
    expect(run(evolve(freeLink, created), "disable", "delete", "restore").status).toBe("disabled");
  });
});

describe("the claim of a hostname", () => {
  const claim = deciderOf<claims.ClaimState, DomainEvent>(claims.unclaimed, claims.evolveClaim);
  const mine = {
    hostname: "go.example.com",
    accountId,
    domainId: "22222222-2222-4222-8222-222222222222",
    at,
  };
  const theirs = { ...mine, accountId: other, domainId: "55555555-5555-4555-8555-555555555555" };
  const claimed = (data: typeof mine): DomainEvent => ({ type: "DomainClaimed", data });
  const released = (data: typeof mine): DomainEvent => ({ type: "DomainReleased", data });

  it("goes to one account, which may ask again", () => {
    claim([], (c) => claims.claim(c, mine), [claimed(mine)]);
    claim([claimed(mine)], (c) => claims.claim(c, mine), []);
    claim([claimed(theirs)], (c) => claims.claim(c, mine), "domain_taken");
  });

  it("is renewed under a new id for the next life of the domain", () => {
    const next = { ...mine, domainId: theirs.domainId };
    claim([claimed(mine)], (c) => claims.claim(c, next), [released(mine), claimed(next)]);
  });

  it("passes on when its holder no longer has the domain", () => {
    const taking = { ...mine, stale: theirs };
    claim([claimed(theirs)], (c) => claims.claim(c, taking), [released(theirs), claimed(mine)]);
  });

  it("is released by its holder only, and once", () => {
    claim([claimed(mine)], (c) => claims.release(c, mine), [released(mine)]);
    claim([claimed(theirs)], (c) => claims.release(c, mine), []);
    claim([claimed(mine), released(mine)], (c) => claims.release(c, mine), []);
    claim([claimed(mine), released(mine)], (c) => claims.claim(c, theirs), [claimed(theirs)]);
  });
});
