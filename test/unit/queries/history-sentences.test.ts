// The history of a link reads as sentences, with the same words for everybody who reads it.
import { expect, it } from "vitest";
import { actorWords, clausesOf, sentenceOf } from "../../../src/queries/links/history-sentences.ts";
import type { LinkStep } from "../../../src/queries/links/link-history.ts";

const step = (type: LinkStep["type"], more: Partial<LinkStep> = {}): LinkStep => ({
  ...{ type, position: "1", at: "2026-11-28T18:00:00.000Z", revision: 1, changes: {} },
  ...{ actor: { type: "operator" }, isImported: false },
  ...more,
});
const changed = (changes: LinkStep["changes"]) => step("LinkOptionsChanged", { changes });

it.each([
  [
    step("LinkCreated", {
      to: "https://a.example/",
      changes: { url: { from: null, to: "https://a.example/" } },
    }),
    "created this link to https://a.example/",
  ],
  [
    step("LinkCreated", { to: "https://a.example/", changes: { title: { from: null, to: "Sale" } } }),
    "created this link to https://a.example/; set the title to “Sale”",
  ],
  [
    step("LinkRetargeted", { from: "https://a.example/", to: "https://b.example/" }),
    "changed the destination from https://a.example/ to https://b.example/",
  ],
  [changed({ title: { from: "Sale", to: "Spring" } }), "changed the title from “Sale” to “Spring”"],
  [changed({ comments: { from: "Old", to: null } }), "removed the comments “Old”"],
  [
    changed({ tags: { from: ["a"], to: ["a", "b"] }, max_clicks: { from: null, to: 100 } }),
    "changed the tags from “a” to “a”, “b”; set the limit of clicks to 100",
  ],
  [
    changed({ expires_at: { from: null, to: "2026-12-24T00:00:00.000Z" } }),
    "set the end to 2026-12-24T00:00:00.000Z",
  ],
  [changed({ has_password: { from: null, to: true } }), "set a password"],
  [changed({ has_password: { from: true, to: true } }), "replaced the password"],
  [changed({ has_password: { from: true, to: null } }), "removed the password"],
  [
    changed({ forward_query: { from: true, to: "visitor" } }),
    /^changed the forwarding of the query from the dest.* to the visitor/,
  ],
  [
    changed({ rules: { from: [], to: [{ when: { os: ["iOS"] }, url: "https://a.example/" }] } }),
    "changed the rules from 0 rules to 1 rule",
  ],
  [step("LinkDisabled"), "disabled this link"],
  [step("LinkEnabled"), "enabled this link again"],
  [
    step("LinkBlocked", { blocked: { reason: "phishing", since: "", legal: false } }),
    "blocked this link: phishing",
  ],
  [
    step("LinkBlocked", { blocked: { reason: "a court", since: "", legal: true } }),
    "blocked this link for a legal reason: a court",
  ],
  [step("LinkUnblocked"), "unblocked this link"],
  [step("LinkDeleted"), "deleted this link"],
  [step("LinkRestored"), "restored this link"],
  [
    step("ClicksWithdrawn", { withdrawn: { clicks: 3, reason: "a test" } }),
    "took hits out of the numbers, 3 in all: a test",
  ],
  [step("ClicksRestored"), "let withdrawn hits count again"],
  [step("Unreadable"), "made a change that can't be read"],
])("says what a step did: %#", (given, words) => {
  expect(sentenceOf("You", clausesOf(given))).toEqual(
    typeof words === "string"
      ? `You ${words}.`
      : expect.stringMatching(new RegExp(words.source.replace("^", "^You "))),
  );
});

it("names who did it: the reader, a key by its label, the operator, an import, the service", () => {
  const key = { _id: "k", _position: "1", accountId: "a", label: "Shop", hint: "ab12" };
  const of = (label: string) => ({ ...key, label }) as unknown as Parameters<typeof actorWords>[2];
  const by = (actor: LinkStep["actor"], isImported = false) => ({ actor, isImported });
  const byKey = by({ type: "key", id: "k" });
  expect([
    actorWords(by({ type: "account", id: "a" }), "You", undefined),
    actorWords(byKey, "You", of("Shop")),
    actorWords(byKey, "You", of("")),
    actorWords(byKey, "You", undefined),
    actorWords(by({ type: "operator" }), "You", undefined),
    actorWords(by({ type: "operator" }, true), "You", undefined),
    actorWords(by({ type: "system", id: "recheck" }), "You", undefined),
  ]).toEqual([
    "You",
    "The API key “Shop”",
    "The API key that ends in ab12",
    "An API key",
    "The operator of this service",
    "An import",
    "The service",
  ]);
});
