// The deciders of a link and of a hostname claim, as given-when-then.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as claims from "../../../src/commands/domains/domain.ts";
import {
  change,
  changeByOperator,
  create,
  evolve,
  freeLink,
  type LinkChange,
  type LinkState,
  type OperatorChange,
} from "../../../src/commands/links/link.ts";
import type { DomainEvent, LinkEvent } from "../../../src/events/catalogue.ts";
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
    link.given().when(make).thenEvents(created);
    link.given(created).when(make).thenRefused("slug_taken");
    link.given(created, deleted).when(make).thenRefused("slug_taken");
  });

  it("is retargeted, and changes nothing when it goes there already", () => {
    const { longUrl: from } = made;
    const to = "https://example.org/";
    link
      .given(created)
      .when(changed({ type: "retarget", to }))
      .thenEvents({ type: "LinkRetargeted", data: { ...of, from, to } });
    link
      .given(created)
      .when(changed({ type: "retarget", to: from }))
      .thenNothing();
  });

  it("is disabled and enabled, each once", () => {
    link
      .given(created)
      .when(changed({ type: "disable" }))
      .thenEvents(disabled);
    link
      .given(created, disabled)
      .when(changed({ type: "disable" }))
      .thenNothing();
    link
      .given(created, disabled)
      .when(changed({ type: "enable" }))
      .thenEvents({ type: "LinkEnabled", data: of });
    link
      .given(created)
      .when(changed({ type: "enable" }))
      .thenNothing();
  });

  it("is deleted and restored, each once; nothing else happens to a deleted link", () => {
    link
      .given(created)
      .when(changed({ type: "delete" }))
      .thenEvents(deleted);
    link
      .given(created, deleted)
      .when(changed({ type: "delete" }))
      .thenNothing();
    link
      .given(created, deleted)
      .when(changed({ type: "restore" }))
      .thenEvents(restored);
    link
      .given(created, deleted, restored)
      .when(changed({ type: "restore" }))
      .thenNothing();
    link
      .given(created, deleted)
      .when(changed({ type: "disable" }))
      .thenRefused("link_deleted");
  });

  it("is blocked by the operator in any state, again for another reason, and unblocked once", () => {
    const block = { type: "block", reason: "Phishing", legal: false } as const;
    for (const before of [[created], [created, disabled], [created, deleted], [created, blocked, unblocked]])
      link
        .given(...before)
        .when(operated(block))
        .thenEvents(blocked);
    link.given(created, blocked).when(operated(block)).thenNothing();
    link
      .given(created, blocked)
      .when(operated({ ...block, legal: true }))
      .thenEvents({ type: "LinkBlocked", data: { ...of, reason: "Phishing", legal: true } });
    link
      .given(created, blocked)
      .when(operated({ type: "unblock" }))
      .thenEvents(unblocked);
    link
      .given(created)
      .when(operated({ type: "unblock" }))
      .thenNothing();
    link.given().when(operated(block)).thenRefused("link_not_found");
  });

  it("can be disabled and deleted while it is blocked, and nothing else", () => {
    const refused: [LinkChange, LinkEvent[]][] = [
      [{ type: "retarget", to: "https://example.org/" }, [created, blocked]],
      [{ type: "enable" }, [created, disabled, blocked]],
      [{ type: "restore" }, [created, blocked, deleted]],
    ];
    for (const [wanted, before] of refused)
      link
        .given(...before)
        .when(changed(wanted))
        .thenRefused("link_blocked");
    link
      .given(created, blocked)
      .when(changed({ type: "disable" }))
      .thenEvents(disabled);
    link
      .given(created, blocked)
      .when(changed({ type: "delete" }))
      .thenEvents(deleted);
    link
      .given(created, disabled, blocked, unblocked)
      .when(changed({ type: "enable" }))
      .thenEvents({ type: "LinkEnabled", data: of });
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
    claim
      .given()
      .when((c) => claims.claim(c, mine))
      .thenEvents(claimed(mine));
    claim
      .given(claimed(mine))
      .when((c) => claims.claim(c, mine))
      .thenNothing();
    claim
      .given(claimed(theirs))
      .when((c) => claims.claim(c, mine))
      .thenRefused("domain_taken");
  });

  it("is renewed under a new id for the next life of the domain", () => {
    const next = { ...mine, domainId: theirs.domainId };
    claim
      .given(claimed(mine))
      .when((c) => claims.claim(c, next))
      .thenEvents(released(mine), claimed(next));
  });

  it("passes on when its holder no longer has the domain", () => {
    const taking = { ...mine, stale: theirs };
    claim
      .given(claimed(theirs))
      .when((c) => claims.claim(c, taking))
      .thenEvents(released(theirs), claimed(mine));
  });

  it("is released by its holder only, and once", () => {
    claim
      .given(claimed(mine))
      .when((c) => claims.release(c, mine))
      .thenEvents(released(mine));
    claim
      .given(claimed(theirs))
      .when((c) => claims.release(c, mine))
      .thenNothing();
    claim
      .given(claimed(mine), released(mine))
      .when((c) => claims.release(c, mine))
      .thenNothing();
    claim
      .given(claimed(mine), released(mine))
      .when((c) => claims.claim(c, theirs))
      .thenEvents(claimed(theirs));
  });
});
