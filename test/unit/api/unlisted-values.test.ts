// What a breakdown of a link doesn't list is told apart from a value that is called `other`.
import { expect, it } from "vitest";
import { analyticsAnswer, rangeAnswer } from "../../../src/api/analytics/answers.ts";
import { parseRange } from "../../../src/queries/analytics/range.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { rangesOf } from "../../support/projections/range-of.ts";
import { append, openStores } from "../../support/runtime/stores.ts";

it("lists a value `other` as it is, and says beside the breakdowns what they leave out", async () => {
  const stores = await openStores();
  await append(stores.eventStore, "link-sho.rt/abc", [linkCreated()]);
  const clicks = Array.from({ length: 300 }, (_, n) =>
    linkClicked({ city: `c${n}`, country: undefined, utm: { source: n < 40 ? "other" : `s${n}` } }),
  );
  await append(stores.eventStore, "clicks-w0-20260301", clicks);
  await foldGroups(stores);
  const now = new Date("2026-03-02T00:00:00.000Z");
  const range = parseRange({ from: "2026-03-01", to: "2026-03-02" });
  const found = await rangesOf(stores, now)({ from: "2026-03-01", to: "2026-03-02" });
  for (const { analytics } of [rangeAnswer(found, range, "live"), analyticsAnswer(found, now)]) {
    const sum = (counts: Readonly<Record<string, number>>) =>
      Object.values(counts).reduce((all, count) => all + count, 0);
    expect(analytics.utm.source?.other).toBe(40);
    expect(analytics.other?.cities).toBeGreaterThan(0);
    expect(sum(analytics.cities) + (analytics.other?.cities ?? 0)).toBe(300);
    expect(sum(analytics.utm.source ?? {}) + (analytics.other?.utm_source ?? 0)).toBe(300);
    expect(analytics.other).not.toHaveProperty("countries");
  }
  await stores.close();
});
