// What is noted of a link at its end, as given-when-then.
import { describe, it } from "vitest";
import { evolve, freeLink, type LinkState, reachEnd } from "../../../src/commands/links/link.ts";
import type { LinkEvent } from "../../../src/events/catalogue.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const accountId = "11111111-1111-4111-8111-111111111111";
const expiresAt = "2026-01-02T00:00:00.000Z";
const of = { host: "localhost", slug: "abc", accountId, at: expiresAt };
const link = deciderOf<LinkState, LinkEvent>(freeLink, evolve);
const created = (options: { expiresAt?: string; maxClicks?: number }): LinkEvent => ({
  type: "LinkCreated",
  data: { ...of, ...made, ...options, at: "2026-01-01T00:00:00.000Z" },
});
const made = {
  longUrl: "https://example.com/",
  shortUrl: "http://localhost/abc",
  via: "api",
  custom: false,
} as const;
const expired: LinkEvent = { type: "LinkExpired", data: { ...of, expiresAt } };
const usedUp: LinkEvent = { type: "LinkLimitReached", data: { ...of, maxClicks: 2 } };
const set = (changes: { expiresAt?: string | null; maxClicks?: number | null }): LinkEvent => ({
  type: "LinkOptionsChanged",
  data: { ...of, changes },
});
const at =
  (moment: string, people = 0) =>
  (state: LinkState) =>
    reachEnd(state, { at: moment, people });

describe("the end of a link", () => {
  it("is noted when it has come, and once", () => {
    const before = "2026-01-01T23:59:59.999Z";
    link([created({ expiresAt })], at(before), []);
    link([created({ expiresAt })], at(expiresAt), [expired]);
    link([created({ expiresAt }), expired], at(expiresAt), []);
    link([created({ maxClicks: 2 })], at(expiresAt, 1), []);
    link([created({ maxClicks: 2 })], at(expiresAt, 2), [usedUp]);
    link([created({ maxClicks: 2 }), usedUp], at(expiresAt, 3), []);
    link([created({ maxClicks: 2, expiresAt })], at(expiresAt, 2), [usedUp, expired]);
    link([created({})], at(expiresAt, 9), []);
  });

  it("is noted anew when another one has come, and not when it was taken away or moved", () => {
    const later = "2026-01-03T00:00:00.000Z";
    link([created({ expiresAt }), expired, set({ expiresAt: later })], at(expiresAt), []);
    link([created({ expiresAt }), expired, set({ expiresAt: later })], at(later), [
      { type: "LinkExpired", data: { ...of, at: later, expiresAt: later } },
    ]);
    link([created({ expiresAt }), set({ expiresAt: null })], at(later), []);
    link([created({ maxClicks: 2 }), usedUp, set({ maxClicks: 3 })], at(expiresAt, 2), []);
    link([created({ maxClicks: 2 }), usedUp, set({ maxClicks: 3 })], at(expiresAt, 3), [
      { type: "LinkLimitReached", data: { ...of, maxClicks: 3 } },
    ]);
  });

  it("is open again when it lies in the future again, and noted anew when it comes", () => {
    const [aDayBefore, aMinuteBefore] = ["2026-01-01T00:00:00.000Z", "2026-01-01T23:59:00.000Z"];
    const reopened: LinkEvent = { type: "LinkReopened", data: { ...of, at: aDayBefore, expiresAt } };
    link([created({ expiresAt }), expired], at(aDayBefore), [reopened]);
    link([created({ expiresAt }), expired, reopened], at(aDayBefore), []);
    link([created({ expiresAt }), expired, reopened], at(expiresAt), [expired]);
    // Clocks of two machines differ.
    link([created({ expiresAt }), expired], at(aMinuteBefore), []);
    link([created({ expiresAt }), expired, { type: "LinkDisabled", data: of }], at(aDayBefore), [reopened]);
  });

  it("is not noted where a visitor meets something else: a link that is disabled, blocked, deleted or not there", () => {
    const [off, on]: LinkEvent[] = [
      { type: "LinkDisabled", data: of },
      { type: "LinkEnabled", data: of },
    ];
    const blocked: LinkEvent = { type: "LinkBlocked", data: { ...of, reason: "Phishing" } };
    const deleted: LinkEvent = { type: "LinkDeleted", data: of };
    for (const stopped of [off, blocked, deleted] as LinkEvent[])
      link([created({ expiresAt, maxClicks: 2 }), stopped], at(expiresAt, 2), []);
    link([], at(expiresAt), []);
    link([created({ expiresAt }), off, on] as LinkEvent[], at(expiresAt), [expired]);
    link([created({ expiresAt }), deleted, { type: "LinkRestored", data: of }], at(expiresAt), [expired]);
  });
});
