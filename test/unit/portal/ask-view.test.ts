// What a page of analytics asks for, and what it says where it is refused.
import { expect, it } from "vitest";
import { Refused } from "../../../src/commands/refusals.ts";
import { askView } from "../../../src/portal/analytics/ask-view.ts";
import { AnalyticsQuery, viewOf } from "../../../src/portal/analytics/view-address.ts";
import type { AccountAnswer, AccountQuestion } from "../../../src/queries/analytics/question.ts";

const NOW = new Date("2026-03-29T10:30:00.000Z");
const TOTALS = { click: 1, qr_scan: 0, preview: 0, people: 1, visitors: 1 };
const EMPTY = { rows: [], other: undefined };

/** The questions that were asked, and the outcome. */
async function asked(
  query: Record<string, unknown>,
  refusal: () => Refused | undefined = () => undefined,
  tier: "free" | "developer" = "developer",
) {
  const questions: AccountQuestion[] = [];
  const askAccount = async (question: AccountQuestion): Promise<AccountAnswer> => {
    questions.push(question);
    const refused = refusal();
    if (refused) throw refused;
    return {
      ...{ from: 0, to: 1, interval: "day", totals: TOTALS, previous: undefined, series: [] },
      groups: Object.fromEntries(question.groupBy.map((field) => [field, EMPTY])),
      ...{ gaps: [], position: "", behindMs: 0 },
    };
  };
  const deps = { logReader: { askAccount }, clock: () => NOW };
  const view = viewOf(AnalyticsQuery.parse(query), tier, NOW, undefined);
  const wanted = { groupBy: ["country"] as const, limit: 10 };
  const { signal } = new AbortController();
  const outcome = await askView(deps, "a", view, wanted, signal);
  return { questions, ...outcome };
}

it("says so where there are too many clicks", async () => {
  const all = await asked({ device: "mobile" }, () => new Refused("range_too_large"));
  expect([all.answer, all.isTooLarge]).toEqual([undefined, true]);
});

it("compares with the time before on the Developer plan, where the range has a beginning", async () => {
  const compareOf = async (...of: Parameters<typeof asked>) => (await asked(...of)).questions[0]?.compare;
  expect(await compareOf({})).toBe("previous");
  expect(await compareOf({ compare: "year" })).toBe("year");
  expect(await compareOf({ compare: "none" })).toBeUndefined();
  const days = { compare_from: "2026-01-01", compare_to: "2026-01-07" };
  const period = { from: Date.parse("2026-01-01T00:00Z"), to: Date.parse("2026-01-08T00:00Z") };
  expect(await compareOf({ compare: "custom", ...days })).toEqual(period);
  expect(await compareOf({ compare: "custom", ...days, compare_to: "soon" })).toBeUndefined();
  expect(await compareOf({}, undefined, "free")).toBeUndefined();
  expect(await compareOf({ range: "custom" })).toBeUndefined();
});

it("says which days are too many to be compared with", async () => {
  const days = { compare_from: "2020-01-01", compare_to: "2025-12-31" };
  const refusal = () => new Refused("invalid_range");
  const { view, isTooLarge } = await asked({ range: "today", compare: "custom", ...days }, refusal);
  expect([Object.keys(view.range.errors), isTooLarge]).toEqual([["compare_to"], false]);
});
