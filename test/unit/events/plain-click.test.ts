// The check of LinkClicked by hand: it takes nothing that the schema refuses or changes, and all that the redirect writes.
import fc from "fast-check";
import { expect, it } from "vitest";
import { catalogue, type LinkClicked } from "../../../src/events/catalogue.ts";
import { isPlainClick } from "../../../src/events/click-events.ts";
import { CLICK_KINDS, CREATED_VIA, DEVICE_TYPES, UTM_FIELDS } from "../../../src/events/vocabulary.ts";

const { schema } = catalogue.LinkClicked;

const text = fc.string({ maxLength: 8 });
const named = fc.record({ name: text, version: text }, { requiredKeys: ["name"] });
const optional = {
  ...{ rule: text, userAgent: text, browser: named, os: named, ip: text, country: text, region: text },
  ...{ city: text, referrer: text, language: text, prefetch: text, visitor: text, accountVisitor: text },
  utm: fc.record(Object.fromEntries(UTM_FIELDS.map((field) => [field, text])), { requiredKeys: [] }),
};
const required = {
  ...{ link: text, longUrl: text, rules: text, linkRevision: fc.nat() },
  accountId: fc.uuid(),
  via: fc.constantFrom(...CREATED_VIA),
  at: fc
    .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
    .map((at) => at.toISOString().replace("-02-29", "-02-28")),
  kind: fc.constantFrom(...CLICK_KINDS),
  method: fc.constantFrom("GET" as const, "HEAD" as const, "POST" as const),
  device: fc.constantFrom(...DEVICE_TYPES),
};
const requiredKeys = Object.keys(required) as (keyof typeof required)[];
const clicks = fc.record({ ...required, ...optional }, { requiredKeys, noNullPrototype: true });

const NAMES = [...requiredKeys, ...Object.keys(optional), "later"];
const MOMENTS =
  "2026-02-29T00:00:00.000Z 2024-02-29T00:00:00.000Z 2026-04-31T00:00:00.000Z 2026-01-01T24:00:00.000Z".split(
    " ",
  );
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    ...MOMENTS,
    "2026-01-01T00:00:00+01:00",
    "2026-01-01",
    "GETS",
    "click ",
    "0".repeat(36),
    1.5,
    2 ** 53,
  ),
  fc.record({ name: fc.jsonValue({ maxDepth: 1 }), version: fc.jsonValue({ maxDepth: 1 }), later: text }),
  fc.record({ source: fc.jsonValue({ maxDepth: 1 }), later: text }, { requiredKeys: [] }),
);
/** A member that is another, added, or gone. */
const changes = fc.record({ name: fc.constantFrom(...NAMES), value: fc.option(values, { nil: undefined }) });

it("takes every click that is written", () => {
  fc.assert(
    fc.property(clicks, (click) => {
      expect(schema.parse(click)).toEqual(click);
      expect(isPlainClick(click)).toBe(true);
    }),
  );
});

it("takes nothing that the schema refuses or changes", () => {
  const holds = (data: unknown) => {
    if (!isPlainClick(data)) return;
    const parsed = schema.safeParse(data);
    expect([parsed.success, parsed.data]).toEqual([true, data satisfies LinkClicked["data"]]);
  };
  fc.assert(fc.property(fc.jsonValue(), holds));
  fc.assert(
    fc.property(clicks, fc.array(changes, { minLength: 1, maxLength: 3 }), (click, changed) => {
      const data: Record<string, unknown> = { ...click };
      for (const { name, value } of changed)
        if (value === undefined) delete data[name];
        else data[name] = value;
      holds(data);
    }),
    { numRuns: 2_000 },
  );
});
