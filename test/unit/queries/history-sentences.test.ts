// The history of a link reads as sentences, with the same words for everybody who reads it.
import fc from "fast-check";
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

const RULES = {
  apps: { id: "a", name: "Apps", when: { os: ["iOS", "Android"] }, url: "https://apps.example/" },
  germans: { id: "g", when: { country: ["DE"], share: 50 }, url: "https://de.example/" },
  campaign: {
    id: "c",
    when: { query: { ref: "shop", beta: true }, from: "2026-12-01T00:00:00.000Z" },
    url: "https://campaign.example/",
  },
};
const { apps, germans, campaign } = RULES;

it.each([
  [null, [apps], "added rule 1 “Apps” (OS: iOS, Android) to https://apps.example/"],
  [
    [apps],
    [campaign, apps],
    "added rule 1 (Query: “ref=shop”, “beta=*” · From 2026-12-01T00:00:00.000Z) to https://campaign.example/",
  ],
  [
    [apps, germans],
    null,
    /^removed rule 1 “Apps” .*; removed rule 2 \(Countries: DE · 50 % of visitors\) to h/,
  ],
  [
    [apps, germans],
    [apps, { ...germans, url: "https://phishing.example/" }],
    "changed the destination of rule 2 from https://de.example/ to https://phishing.example/",
  ],
  [
    [germans],
    [{ ...germans, when: { country: ["DE", "AT"] } }],
    "changed the conditions of rule 1 from Countries: DE · 50 % of visitors to Countries: DE, AT",
  ],
  [
    [apps, germans],
    [
      { ...apps, name: undefined },
      { ...germans, name: "B" },
    ],
    "took the name “Apps” from rule 1; named rule 2 “B”",
  ],
  [
    [apps, germans, campaign],
    [campaign, apps],
    /^removed rule 2 .*; moved rule 3 to place 1; moved rule 1 “Apps” to place 2$/,
  ],
])("tells rules one by one: %#", (from, to, words) => {
  const said = sentenceOf("You", clausesOf(changed({ rules: { from, to } }))).slice(4, -1);
  expect(said).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
});

const rule = fc.record({
  when: fc.record({ country: fc.subarray(["DE", "AT", "CH"], { minLength: 1 }) }),
  url: fc.webUrl(),
  name: fc.option(fc.string(), { nil: undefined }),
});
const rules = fc.uniqueArray(
  fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), rule).map(([id, other]) => ({ id, ...other })),
  { selector: ({ id }) => id },
);

it("says every destination that a change of rules brings or takes away, and nothing of rules that stay", () => {
  fc.assert(
    fc.property(rules, rules, (from, to) => {
      const said = sentenceOf("You", clausesOf(changed({ rules: { from, to } })));
      const urlOf = (list: typeof from, id: string) => list.find((one) => one.id === id)?.url;
      for (const { id, url } of [...from, ...to])
        if (urlOf(from, id) !== urlOf(to, id)) expect(said).toContain(url);
      const isSame = JSON.stringify(from) === JSON.stringify(to);
      expect(said === "You changed nothing.").toBe(isSame);
    }),
  );
});

it("names who did it: the reader, a key by its label, the operator, an import, the service", () => {
  const key = { _id: "k", _position: "1", accountId: "a", label: "Shop", hint: "ab12" };
  const people = new Map([
    ["a", "you"],
    ["b", "ann@example.com"],
  ]);
  const of = (label: string) => ({ ...key, label }) as unknown as Parameters<typeof actorWords>[2];
  const by = (actor: LinkStep["actor"], isImported = false) => ({ actor, isImported });
  const byKey = by({ type: "key", id: "k" });
  const words = [
    actorWords(by({ type: "person", id: "a" }), people, undefined),
    actorWords(by({ type: "person", id: "b" }), people, undefined),
    actorWords(byKey, people, of("Shop")),
    actorWords(byKey, people, of("")),
    actorWords(byKey, people, undefined),
    actorWords(by({ type: "operator" }), people, undefined),
    actorWords(by({ type: "operator" }, true), people, undefined),
    actorWords(by({ type: "system", id: "recheck" }), people, undefined),
  ];
  expect(words.map((each) => sentenceOf(each, []).replace(" changed nothing.", ""))).toEqual([
    "You",
    "ann@example.com",
    "The API key “Shop”",
    "The API key that ends in ab12",
    "An API key",
    "The operator of this service",
    "An import",
    "The service",
  ]);
});
