// What a page of analytics asks for, so that it is quick where documents answer, and what it says where it is refused.
import { expect, it } from "vitest";
import { rateLimits } from "../../../src/api/limits/rate-limit.ts";
import { INTERFACE_LIMITS } from "../../../src/events/vocabulary.ts";
import { askView } from "../../../src/portal/analytics/ask-view.ts";
import { AnalyticsQuery, viewOf } from "../../../src/portal/analytics/view-address.ts";
import type { AccountAnswer, AccountQuestion } from "../../../src/queries/analytics/account/question.ts";
import { Refused } from "../../../src/runtime/refused.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";

const NOW = new Date("2026-03-29T10:30:00.000Z");
const TOTALS = { click: 1, qr_scan: 0, preview: 0, people: 1, visitors: 1, visitorsEstimated: false };
const EMPTY = { rows: [], other: undefined };

/** The groups of each question that was asked, and the outcome. */
async function asked(
  query: Record<string, unknown>,
  answer: (question: AccountQuestion) => "documents" | "log" | Refused,
  tier: "free" | "developer" = "developer",
) {
  const questions: AccountQuestion[] = [];
  const askAccount = async (question: AccountQuestion): Promise<AccountAnswer> => {
    questions.push(question);
    const source = answer(question);
    if (source instanceof Refused) throw source;
    return {
      ...{ from: 0, to: 1, interval: "day", totals: TOTALS, previous: undefined, series: [] },
      groups: Object.fromEntries(question.groupBy.map((field) => [field, EMPTY])),
      ...{ gaps: [], position: "", behindMs: 0, source },
    };
  };
  const deps = {
    logReader: { askAccount },
    rateLimits: rateLimits(ownCounts()),
    clock: () => NOW,
    limits: INTERFACE_LIMITS,
  };
  const view = viewOf(AnalyticsQuery.parse(query), tier, NOW, undefined);
  const wanted = { groupBy: ["country"] as const, uncounted: ["tag"] as const, limit: 10 };
  const outcome = await askView(deps, { accountId: "a", tier }, view, wanted);
  return { questions, groupBy: questions.map(({ groupBy }) => groupBy), ...outcome };
}

it("asks for tags besides where there are few clicks, with filters at once, and else only where they stand open", async () => {
  expect((await asked({}, () => "log")).groupBy).toEqual([["country"], ["tag"]]);
  expect((await asked({ country: "FR" }, () => "log")).groupBy).toEqual([["country", "tag"]]);
  const many = (query: Record<string, unknown>) =>
    asked(query, ({ groupBy }) => (groupBy.includes("tag") ? "log" : "documents"));
  expect((await many({})).groupBy).toEqual([["country"]]);
  const open = await many({ open: "tag" });
  expect([open.groupBy, Object.keys(open.answer?.groups ?? {}), open.answer?.source]).toEqual([
    [["country"], ["tag"]],
    ["country", "tag"],
    "log",
  ]);
});

it("shows the other numbers where tags are too many, and says so where all are", async () => {
  const tooLarge = new Refused("range_too_large");
  const tags = await asked({ open: "tag" }, ({ groupBy }) =>
    groupBy.includes("tag") ? tooLarge : "documents",
  );
  expect([Object.keys(tags.answer?.groups ?? {}), tags.isTooLarge]).toEqual([["country"], false]);
  const all = await asked({ device: "mobile" }, () => tooLarge);
  expect([all.answer, all.isTooLarge]).toEqual([undefined, true]);
});

it("compares with the time before on the Developer plan, where the range has a beginning", async () => {
  const compareOf = async (...of: Parameters<typeof asked>) => (await asked(...of)).questions[0]?.compare;
  expect(await compareOf({}, () => "documents")).toBe("previous");
  expect(await compareOf({}, () => "documents", "free")).toBeUndefined();
  expect(await compareOf({ range: "custom" }, () => "documents")).toBeUndefined();
});
