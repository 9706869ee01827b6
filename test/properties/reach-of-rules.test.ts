// What a form says of a link's rules, whom each gets and what is left for the link, is what the choice of a rule does: each
// visitor of a small world is led by every lot there is.
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Conditions, conditionsOf, firstRule, type Visit } from "../../src/redirect/rules/first-rule.ts";
import { leftForLink, reachOfRules } from "../../src/redirect/rules/reach.ts";
import { effort } from "../support/runtime/effort.ts";

const DAYS = ["2030-01-01T00:00:00.000Z", "2030-01-02T00:00:00.000Z", "2030-01-03T00:00:00.000Z"];
const some = <T>(...values: T[]) => fc.option(fc.subarray(values, { minLength: 1 }), { nil: undefined });

const rule = fc
  .record({
    device: some("mobile" as const, "desktop" as const),
    os: some("iOS", "Android"),
    country: some("DE", "AT"),
    language: some("de", "de-at", "pt"),
    query: some<[string, string | true]>(["ref", "shop"], ["ref", true], ["x", "1"]),
    from: fc.option(fc.constantFrom(...DAYS), { nil: undefined }),
    to: fc.option(fc.constantFrom(...DAYS), { nil: undefined }),
    share: fc.option(fc.constantFrom(10, 12.5, 30, 50, 70), { nil: undefined }),
  })
  .filter(({ from, to }) => from === undefined || to === undefined || from < to)
  .map((when) => ({ when }));
/** Mostly of one or two conditions, as people's are. */
const simple = rule.chain(({ when }) =>
  fc
    .subarray(Object.keys(when) as (keyof typeof when)[], { maxLength: 3 })
    .map((names) => ({ when: Object.fromEntries(names.map((name) => [name, when[name]])) as typeof when })),
);

const STEP = 0.5;
const PARAMETERS = [[], [["ref", "shop"]], [["ref", "mail"]], [["ref", "shop"], ["x", "1"]]]; // biome-ignore format: a list
const times = [Date.parse("2029-12-31T00:00:00Z"), ...DAYS.map((day) => Date.parse(day) + 1)];
const visitors: Omit<Visit, "lot">[] = times.flatMap((at) =>
  (["mobile", "desktop"] as const).flatMap((device) =>
    ["ios", "android", "windows"].flatMap((os) =>
      ["DE", "AT", "FR"].flatMap((country) =>
        ["de", "de-at", "pt-br", "fr"].flatMap((language) =>
          PARAMETERS.map((pairs) => ({
            ...{ at, device, os, country, language },
            parameters: new Map(pairs.map(([name = "", value = ""]) => [name, new Set([value])])),
          })),
        ),
      ),
    ),
  ),
);

/** Per cent of the lots by which the visitor is led by each rule; the last is the link's own. */
function split(rules: readonly { when: Conditions; index: number }[], visitor: Omit<Visit, "lot">): number[] {
  const led = Array.from({ length: rules.length + 1 }, () => 0);
  for (let lot = STEP / 2; lot < 100; lot += STEP) {
    const index = firstRule(rules, { ...visitor, lot })?.index ?? rules.length;
    led[index] = (led[index] ?? 0) + STEP;
  }
  return led;
}

it("says whom each rule gets, and what is left for the link", () => {
  const lists = fc.array(simple, { minLength: 1, maxLength: 4 });
  const sample = fc.array(fc.constantFrom(...visitors), { minLength: 20, maxLength: 40 });
  fc.assert(
    fc.property(lists, sample, (rules, world) => {
      const reach = reachOfRules(rules);
      const numbered = rules.map(({ when }, index) => ({ when: conditionsOf(when), index }));
      for (const visitor of world) {
        const led = split(numbered, visitor);
        const fitting = numbered.map(({ when, index }) => {
          const alone = { ...when, share: undefined };
          return firstRule([{ when: alone, index }], { ...visitor, lot: 0 }) !== undefined;
        });
        for (const [index, { least, most }] of reach.entries()) {
          if (!fitting[index]) continue;
          expect(led[index]).toBeGreaterThanOrEqual(least);
          expect(led[index]).toBeLessThanOrEqual(most);
        }
        // Of whom no condition but times and shares is met.
        const isPlain = rules.every(({ when: { from: _, to: __, share: ___, ...others } }, index) =>
          Object.values(others).some((value) => value !== undefined) ? !fitting[index] : true,
        );
        if (isPlain) expect(led.at(-1)).toBe(leftForLink(rules, visitor.at));
      }
    }),
    { numRuns: effort(150, 2_000) },
  );
});

it("is exact where the rules before are for everybody: Germans behind a share of 50 % are half of them", () => {
  const half = { when: { share: 50 } };
  const germans = { when: { country: ["DE"] } };
  expect(reachOfRules([half, germans])).toEqual([
    { least: 50, most: 50 },
    { least: 50, most: 50 },
  ]);
  expect(reachOfRules([germans, half])[1]).toEqual({ least: 0, most: 50 });
  expect([leftForLink([half, germans], 0), leftForLink([{ when: {} }], 0)]).toEqual([50, 0]);
});

it("leaves the link nobody while a rule for everybody is in force: from its first moment, up to its last one", () => {
  const [, from = "", to = ""] = DAYS;
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const left = (at: number) => leftForLink([{ when: { from, to } }], at);
  expect([begin - 1, begin, end - 1, end].map(left)).toEqual([100, 0, 0, 100]);
});
