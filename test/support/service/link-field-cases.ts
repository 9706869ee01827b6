// Each field that a link can carry: a value to begin with, another one, what answers show of them, and what is refused.
import { expect } from "vitest";
import type { FieldName } from "../../../src/commands/links/fields/link-fields.ts";

/**
 * `shown`: of both values, where answers don't repeat what was sent. `bad`: refused with the field's name. `typed`: what the
 * portal's form sends for them, `words` what the link's page then says, and `emptied` clears it. `cell`: the first value in a
 * table, where it is not the text of it; `badCell`: refused there, or shortened. `stored`: the first value as LinkCreated
 * has it, of a field that the event's golden fixture is older than.
 */
export type FieldCase = {
  field: FieldName;
  /** The member of answers, when it has another name. */
  member?: string;
  values: readonly [unknown, unknown];
  shown?: readonly [unknown, unknown];
  bad: readonly unknown[];
  typed: readonly [Record<string, string>, Record<string, string>];
  words: readonly [string, string];
  emptied: Record<string, string>;
  cell?: string;
  stored?: unknown;
  badCell: string;
};

const URL_ONE = "https://example.com/one";
const AN_ID = expect.stringMatching(/^[0-9a-f]{12}$/);
const WHEN = { device: ["mobile"], country: ["DE"] };

export const FIELD_CASES: readonly FieldCase[] = [
  {
    field: "title",
    values: ["Spring", " Sum\nmer "],
    shown: ["Spring", "Sum mer"],
    bad: [7, "x".repeat(201)],
    typed: [{ title: "Spring" }, { title: " Sum mer " }],
    words: ["Spring", "Sum mer"],
    emptied: { title: "" },
    badCell: "x".repeat(201),
  },
  {
    field: "comments",
    values: ["one\ntwo", "three"],
    bad: [{}, "x".repeat(2001)],
    typed: [{ comments: "one\r\ntwo" }, { comments: "three" }],
    words: ["two</bdi>", "three"],
    emptied: { comments: "" },
    badCell: "x".repeat(2001),
  },
  {
    field: "tags",
    values: [
      ["a", "b"],
      ["b", " b ", "c"],
    ],
    shown: [
      ["a", "b"],
      ["b", "c"],
    ],
    bad: ["a", [""], [7], ["x".repeat(51)], Array(11).fill("x")],
    typed: [{ tags: "a, b" }, { tags: "b, , c,b" }],
    words: ['<span class="clip">a</span></a>', '<span class="clip">c</span></a>'],
    emptied: { tags: "" },
    cell: "a, b",
    badCell: Array.from({ length: 11 }, (_, n) => `t${n}`).join(),
  },
  {
    field: "external_id",
    values: ["order-1", "order-2"],
    bad: [7, " ", "x".repeat(101)],
    typed: [{ external_id: "order-1" }, { external_id: "order-2" }],
    words: ["order-1", "order-2"],
    emptied: { external_id: "" },
    badCell: "x".repeat(101),
  },
  {
    field: "active_from",
    values: ["2020-01-02", "2020-01-02T03:04:05+01:00"],
    shown: ["2020-01-02T00:00:00.000Z", "2020-01-02T02:04:05.000Z"],
    bad: ["soon", 7, "2020-02-31"],
    typed: [{ active_from: "2020-01-02" }, { active_from: "2020-01-02T02:04:05" }],
    words: ["2020-01-02 00:00", "2020-01-02 02:04"],
    emptied: { active_from: "" },
    badCell: "soon",
  },
  {
    field: "expires_at",
    values: ["2090-01-02T00:00Z", "2091-01-02"],
    shown: ["2090-01-02T00:00:00.000Z", "2091-01-02T00:00:00.000Z"],
    bad: ["never", {}, "2090-13-01"],
    typed: [{ expires_at: "2090-01-02T00:00" }, { expires_at: "2091-01-02" }],
    words: ["2090-01-02 00:00", "2091-01-02 00:00"],
    emptied: { expires_at: "" },
    badCell: "never",
  },
  {
    field: "expired_url",
    values: [URL_ONE, `${URL_ONE}?x=1`],
    bad: ["ftp://x", "nonsense", 7],
    typed: [{ expired_url: URL_ONE }, { expired_url: "example.com/one?x=1" }],
    words: [`href="${URL_ONE}"`, `href="${URL_ONE}?x=1"`],
    emptied: { expired_url: "" },
    badCell: "ftp://x",
  },
  {
    field: "max_clicks",
    values: [1, 1_000_000_000],
    bad: [0, 1.5, "5", 1_000_000_001],
    typed: [{ max_clicks: "1" }, { max_clicks: "1000000000" }],
    words: ["<li>0 of 1 click used</li>", "1,000,000,000"],
    emptied: { max_clicks: "" },
    badCell: "0",
  },
  {
    field: "password",
    member: "has_password",
    values: ["open sesame", "another one"],
    shown: [true, true],
    bad: [7, "", "1234567", "🌻🌻🌻🌻", "x".repeat(129)],
    typed: [{ password: "open sesame" }, { password: "another one" }],
    words: ["<li>Visitors are asked for a password</li>", "replaced the password"],
    emptied: { remove_password: "1" },
    badCell: "x".repeat(129),
  },
  {
    field: "redirect_code",
    values: [302, 308],
    bad: [200, "302", 303],
    typed: [{ redirect_code: "302" }, { redirect_code: "308" }],
    words: ["<li>Answers with 302</li>", "<li>Answers with 308</li>"],
    emptied: { redirect_code: "" },
    badCell: "303",
  },
  {
    field: "forward_query",
    values: [true, "visitor"],
    bad: ["yes", 1],
    typed: [{ forward_query: "destination" }, { forward_query: "visitor" }],
    words: ["<li>The visitor's query goes along</li>", "goes along, and wins</li>"],
    emptied: { forward_query: "" },
    badCell: "perhaps",
  },
  {
    field: "rules",
    values: [
      [{ name: "One", when: WHEN, url: URL_ONE }],
      [
        { when: { os: "iOS", language: "DE", query: { ref: "shop", beta: true } }, url: `${URL_ONE}/ios` },
        { when: { from: "2020-01-01", to: "2090-01-01", share: 12.5 }, url: URL_ONE },
      ],
    ],
    shown: [
      [{ id: AN_ID, name: "One", when: WHEN, url: URL_ONE }],
      [
        {
          id: AN_ID,
          when: { os: ["iOS"], language: ["de"], query: { ref: "shop", beta: true } },
          url: `${URL_ONE}/ios`,
        },
        {
          id: AN_ID,
          when: { from: "2020-01-01T00:00:00.000Z", to: "2090-01-01T00:00:00.000Z", share: 12.5 },
          url: URL_ONE,
        },
      ],
    ],
    bad: [
      {},
      [{ url: URL_ONE }],
      [{ when: {}, url: URL_ONE }],
      [{ when: { device: "fridge" }, url: URL_ONE }],
      [{ when: { country: "Germany" }, url: URL_ONE }],
      [{ when: { share: 101 }, url: URL_ONE }],
      [{ when: { query: JSON.parse('{"__proto__":"a","b":"c"}') }, url: URL_ONE }],
      [{ when: WHEN, url: "javascript:1" }],
      [{ when: WHEN, url: URL_ONE, more: 1 }],
      [{ id: "0123456789ab", when: WHEN, url: URL_ONE }],
      [{ name: " ", when: WHEN, url: URL_ONE }],
      Array(21).fill({ when: WHEN, url: URL_ONE }),
    ],
    typed: [
      {
        ...{ "rules.0.when.device": "mobile", "rules.0.when.country": "DE", "rules.0.url": URL_ONE },
        "rules.0.name": " One ",
      },
      {
        "rules.0.name": "",
        ...{ "rules.0.when.os": "iOS", "rules.0.when.language": "DE", "rules.0.url": "example.com/one/ios" },
        ...{ "rules.0.when.query": "ref=shop\r\nbeta=*", "rules.1.when.os": "", "rules.1.url": "" },
        ...{ "rules.2.when.from": "2020-01-01", "rules.2.when.to": "2090-01-01T00:00" },
        ...{ "rules.2.when.share": "12.5", "rules.2.url": URL_ONE },
      },
    ],
    words: [
      "<strong><bdi>One</bdi></strong>: 100 % of visitors (Device: mobile · Countries: DE)",
      "Query: “<bdi>ref=shop</bdi>”, “<bdi>beta=*</bdi>”",
    ],
    emptied: { "rules.0.name": "", "rules.0.when.device": "", "rules.0.when.country": "", "rules.0.url": "" },
    cell: JSON.stringify([{ name: "One", when: WHEN, url: URL_ONE }]),
    badCell: "[{}]",
  },
];
