// Each field that a link can carry: a value to begin with, another one, what answers show of them, and what is refused.
import type { FieldName } from "../../../src/commands/links/link-fields.ts";

/** `shown`: of both values, where answers don't repeat what was sent. `bad`: refused with the field's name. */
export type FieldCase = {
  field: FieldName;
  /** The member of answers, when it has another name. */
  member?: string;
  values: readonly [unknown, unknown];
  shown?: readonly [unknown, unknown];
  bad: readonly unknown[];
};

const URL_ONE = "https://example.com/one";
const WHEN = { device: ["mobile"], country: ["DE"] };

export const FIELD_CASES: readonly FieldCase[] = [
  {
    field: "title",
    values: ["Spring", " Sum\nmer "],
    shown: ["Spring", "Sum mer"],
    bad: [7, "x".repeat(201)],
  },
  { field: "comments", values: ["one\ntwo", "three"], bad: [{}, "x".repeat(2001)] },
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
  },
  { field: "external_id", values: ["order-1", "order-2"], bad: [7, " ", "x".repeat(101)] },
  {
    field: "active_from",
    values: ["2020-01-02", "2020-01-02T03:04:05+01:00"],
    shown: ["2020-01-02T00:00:00.000Z", "2020-01-02T02:04:05.000Z"],
    bad: ["soon", 7, "2020-02-31"],
  },
  {
    field: "expires_at",
    values: ["2090-01-02T00:00Z", "2091-01-02"],
    shown: ["2090-01-02T00:00:00.000Z", "2091-01-02T00:00:00.000Z"],
    bad: ["never", {}, "2090-13-01"],
  },
  { field: "expired_url", values: [URL_ONE, `${URL_ONE}?x=1`], bad: ["ftp://x", "nonsense", 7] },
  { field: "max_clicks", values: [1, 1_000_000_000], bad: [0, 1.5, "5", 1_000_000_001] },
  {
    field: "password",
    member: "has_password",
    values: ["open sesame", "another"],
    shown: [true, true],
    bad: [7, "x".repeat(129)],
  },
  { field: "redirect_code", values: [302, 308], bad: [200, "302", 303] },
  { field: "forward_query", values: [true, true], bad: ["yes", 1] },
  {
    field: "rules",
    values: [
      [{ when: WHEN, url: URL_ONE }],
      [
        { when: { os: "iOS", language: "DE", query: { ref: "shop", beta: true } }, url: `${URL_ONE}/ios` },
        { when: { from: "2020-01-01", to: "2090-01-01", share: 12.5 }, url: URL_ONE },
      ],
    ],
    shown: [
      [{ when: WHEN, url: URL_ONE }],
      [
        {
          when: { os: ["iOS"], language: ["de"], query: { ref: "shop", beta: true } },
          url: `${URL_ONE}/ios`,
        },
        {
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
      [{ when: WHEN, url: "javascript:1" }],
      [{ when: WHEN, url: URL_ONE, more: 1 }],
      Array(21).fill({ when: WHEN, url: URL_ONE }),
    ],
  },
];
