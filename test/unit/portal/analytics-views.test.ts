// What a page of analytics says of an answer: its numbers with their change, the chart, bars that are filters, and chips.
import { describe, expect, it } from "vitest";
import { filterChips } from "../../../src/portal/analytics/analytics-bar.ts";
import { breakdownCards } from "../../../src/portal/analytics/breakdowns.ts";
import { chartCard } from "../../../src/portal/analytics/series-chart.ts";
import { AnalyticsQuery, viewOf } from "../../../src/portal/analytics/view-address.ts";
import { htmlText } from "../../../src/portal/shell/html.ts";
import type { AccountAnswer, GroupRow, Totals } from "../../../src/queries/analytics/question.ts";
import { decoded } from "../../support/portal/browser-like.ts";

const NOW = new Date("2026-03-29T10:30:00.000Z");
const DAY_MS = 86_400_000;
const START = Date.parse("2026-03-23T00:00:00.000Z");

function totals(people: number, more: Partial<Totals> = {}): Totals {
  return {
    click: people,
    qr_scan: 0,
    preview: 0,
    people,
    visitors: people,
    ...more,
  };
}

function row(value: string, people: number, more: Partial<GroupRow> = {}): GroupRow {
  return { value, ...totals(people), ...more };
}

function answerOf(more: Partial<AccountAnswer> = {}): AccountAnswer {
  const series = Array.from({ length: 7 }, (_, day) => ({ start: START + day * DAY_MS, ...totals(day) }));
  return {
    ...{ from: START, to: NOW.getTime(), interval: "day", series, totals: totals(21), previous: undefined },
    ...{ groups: {}, gaps: [], position: "", behindMs: 0, source: "documents" },
    ...more,
  };
}

const view = (query: Record<string, unknown> = {}) =>
  viewOf(AnalyticsQuery.parse(query), "developer", NOW, undefined);
const chartOf = (answer: AccountAnswer, query = {}) => decoded(htmlText(chartCard(view(query), answer)));
const cardsOf = (answer: AccountAnswer, query = {}) =>
  decoded(htmlText(breakdownCards(view(query), answer, undefined, "/world.svg")));

describe("the numbers of a page", () => {
  it("call more bots neither good nor bad", () => {
    const previous = { from: 0, to: START, totals: totals(1, { preview: 1 }), series: [] };
    const text = chartOf(answerOf({ previous, totals: totals(2, { preview: 2 }) }));
    const kinds = [...text.matchAll(/class="change change-(\w+)"/g)].map(([, kind]) => kind);
    expect(kinds).toEqual(["up", "up", "none"]);
  });

  it("say how they changed against the period before", () => {
    const before = totals(14, { preview: 5, visitors: 42 });
    const series = [2, 4].map((people, day) => ({ start: START + (day - 7) * DAY_MS, ...totals(people) }));
    const previous = { from: START - 7 * DAY_MS, to: START, totals: before, series };
    const text = chartOf(
      answerOf({ previous, totals: totals(21, { preview: 5, visitors: 21, qr_scan: 3 }) }),
    );
    const change = (metric: string) =>
      new RegExp(`data-total="${metric}">[^<]*</span>(?:<span class="change[^>]*>([^<]*)<)?`).exec(text)?.[1];
    expect(["people", "visitors", "qr_scan", "preview"].map(change)).toEqual([
      "▲ 50%",
      "▼ 50%",
      "new",
      "±0%",
    ]);
    expect(text).toMatch(/title="14: Mar 16\s–\s22"/);
    expect(text).toMatch(/<title>Mon, Mar 23, 2026: 0 clicks; Mon, Mar 16, 2026: 2<\/title>/);
    expect(/<g class="then">(.*?)<\/g>/.exec(text)?.[1]?.match(/<line /g)).toHaveLength(1);
    const rows = [...(text.split("<tbody>")[1] ?? "").matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => row);
    expect(rows[1]).toMatch(/Compared with">Tue, Mar 17, 2026<.*Clicks then"[^>]*>4</s);
    expect(rows[2]).toMatch(/Compared with"><.*Clicks then"[^>]*></s);
    expect(chartOf(answerOf())).not.toContain('class="change');
  });

  it("are one chart's tabs, of which one is shown with a value at each point", () => {
    const text = chartOf(answerOf({ totals: totals(21, { visitors: 7 }) }), { show: "visitors" });
    expect(text).toMatch(/show=visitors" class="metric" [^>]*aria-current="true"/);
    expect(text.match(/aria-current="true"/g)).toHaveLength(1);
    const titles = [...text.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
    expect(titles).toHaveLength(7);
    expect(titles.at(-1)).toBe("Sun, Mar 29, 2026: 6 visitors");
    expect(text.match(/<rect class="bar-visitors"/g)).toHaveLength(6);
  });

  it("are marked where clicks were not recorded", () => {
    const at = (day: number) => new Date(START + day * DAY_MS + 3_600_000).toISOString();
    const text = chartOf(answerOf({ gaps: [{ from: at(1), until: at(2), hits: 1_742 }] }));
    const marked = text.match(/<title>[^<]*, not all recorded<\/title><rect class="column gap"/g);
    expect(marked).toHaveLength(2);
    expect(text).toContain("could not record 1,742 visits of all its links");
    expect(chartOf(answerOf())).not.toContain("not all recorded");
  });

  it("are in a table, which says where visitors aren't known", () => {
    const series = [{ start: START, ...totals(3, { visitors: null }) }];
    const text = chartOf(answerOf({ series, totals: totals(3) }));
    expect(text.split("<tbody>")[1]).toMatch(/Mon, Mar 23, 2026<.*?>3<.*?>not known<.*?>0<.*?>0</s);
  });
});

describe("a row of a breakdown", () => {
  const countries = { rows: [row("FR", 9), row("DE", 3), row("unknown", 2)], other: totals(7) };

  it("is a filter, which is taken away where it is chosen", () => {
    const text = cardsOf(answerOf({ groups: { country: countries } }), { device: "mobile" });
    expect(text).toMatch(/href="\/portal\/analytics\?[^"]*&device=mobile&country=FR"[^>]*title="France"/);
    expect(text).toMatch(/>France<\/span><span class="number">9<\/span><span class="bar-share number">43%/);
    expect(text).toContain(">All others<");
    const chosen = cardsOf(answerOf({ groups: { country: countries } }), { country: "FR" });
    expect(chosen).toMatch(
      /href="\/portal\/analytics\?range=7d&timezone=UTC" aria-current="true"[^>]*title="France"/,
    );
  });

  it("counts what the page shows, and clicks where visitors of a value aren't known", () => {
    const rows = [row("desktop", 5, { preview: 1 }), row("bot", 0, { preview: 9 })];
    const previews = cardsOf(answerOf({ groups: { device: { rows, other: undefined } } }), {
      show: "preview",
    });
    expect(
      [...previews.matchAll(/bar-name clip">(\w+)<\/span><span class="number">(\d+)/g)].map(
        ([, ...it]) => it,
      ),
    ).toEqual([
      ["Bot", "9"],
      ["Desktop", "1"],
    ]);
    const unknown = { rows: [row("desktop", 5, { visitors: null })], other: undefined };
    expect(cardsOf(answerOf({ groups: { device: unknown } }), { show: "visitors" })).toContain(
      "Clicks, as visitors",
    );
  });

  it("stands behind a tab, which the address can open, and has its title where it is a link", () => {
    const links = { rows: [row("sho.rt/a", 2, { label: "<b>Spring</b>" })], other: undefined };
    const text = htmlText(
      breakdownCards(
        view({ open: "tag" }),
        answerOf({ groups: { link: links, tag: { rows: [row("x", 1)], other: undefined } } }),
        undefined,
        "/world.svg",
      ),
    );
    expect(text).not.toContain("<b>");
    expect(text).toMatch(/id="tab-tag" value="tag" autocomplete="off" checked/);
    expect(text).not.toMatch(/id="tab-link"[^>]*checked/);
  });

  it("is a country on the map, too, the darker the more it has", () => {
    const text = cardsOf(
      answerOf({
        groups: { country: { rows: [row("FR", 16), row("DE", 1), row("unknown", 2)], other: undefined } },
      }),
    );
    const shown = [...text.matchAll(/<title>([^<]*)<\/title><use class="shade-(\d)" href="([^"]*)"/g)];
    expect(shown.map(([, ...of]) => of)).toEqual([
      ["France: 16 clicks", "5", "/world.svg#FR"],
      ["Germany: 1 click", "2", "/world.svg#DE"],
    ]);
  });

  it("shows all hours of the week as a table, each with its number and the darker the more it has", () => {
    const rows = [row("1-17", 8), row("7-09", 4)];
    const text = cardsOf(answerOf({ groups: { weekday_hour: { rows, other: undefined } } }));
    expect(text.match(/<td>/g)).toHaveLength(24 * 7);
    expect(text).toMatch(
      /class="shade-5" href="[^"]*weekday_hour=1-17"[^>]*aria-label="Monday, 17:00 to 17:59: 8 clicks">8</,
    );
    expect(text).toMatch(/class="shade-3" href="[^"]*weekday_hour=7-09"[^>]*>4</);
  });

  it("takes no room where there is nothing to show", () => {
    const none = { rows: [row("x", 0)], other: undefined };
    const text = cardsOf(answerOf({ groups: { utm_source: none, country: none, referrer: none } }));
    expect(text).not.toContain("<section");
  });
});

it("filters stand above the numbers by their names, each taken away alone", () => {
  const query = { country: ["FR", "DE"], link: "sho.rt/a", weekday: "7" };
  const text = decoded(htmlText(filterChips(view(query)) || ({} as never)));
  const chips = [
    ...text.matchAll(
      /href="([^"]*)"[^>]*><span class="chip-field">([^<]*)<\/span><span class="clip">([^<]*)</g,
    ),
  ];
  expect(chips.map(([, , field, value]) => [field, value])).toEqual([
    ["Link", "sho.rt/a"],
    ["Country", "France"],
    ["Country", "Germany"],
    ["Day of the week", "Sunday"],
  ]);
  expect(chips[1]?.[1]).toBe("/portal/analytics?range=7d&timezone=UTC&link=sho.rt%2Fa&country=DE&weekday=7");
  expect(filterChips(view())).toBe(false);
});
