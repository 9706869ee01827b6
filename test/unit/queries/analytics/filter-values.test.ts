// Filters of clicks: each value that a click can have is its own filter, however it is written, and what none can have is refused
// with what is nearest.
import { domainToUnicode } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRefused } from "../../../../src/commands/refusals.ts";
import { cleanText } from "../../../../src/events/classification/clean-text.ts";
import { referrerOf } from "../../../../src/events/classification/referrer.ts";
import { COLUMNS, textsOf } from "../../../../src/projections/definitions/click-tables/columns.ts";
import {
  columnOf,
  comparable,
  localValues,
} from "../../../../src/queries/analytics/counting/group-values.ts";
import { acceptFilters } from "../../../../src/queries/analytics/filter-values.ts";
import { GROUPS, type GroupBy } from "../../../../src/queries/analytics/question.ts";
import { UTC } from "../../../../src/queries/analytics/time-zone.ts";
import { linkClicked } from "../../../support/event-store/stored-events.ts";
import { anyText } from "../../../support/runtime/any-text.ts";

const unused = async (link: string) => link;
const accepted = async (field: GroupBy, ...values: string[]) =>
  (await acceptFilters({ [field]: values }, unused))[field] ?? [];

// As they are cleaned before they are recorded.
const word = fc
  .oneof(anyText(20), fc.constantFrom("Łódź", "Straße", "İzmir", "Ὀδυσσεύς", "x".repeat(250), "a, DE, b"))
  .map((text) => cleanText(text, 512));
const clicks = fc
  .record({
    country: fc.constantFrom("DE", "GB", "XK", undefined),
    region: fc.option(word, { nil: undefined }),
    city: fc.option(word, { nil: undefined }),
    referrer: fc.oneof(
      fc.webUrl(),
      fc.webUrl({ authoritySettings: { withIPv6: true, withPort: true } }),
      word,
    ),
    device: fc.constantFrom("mobile" as const, "bot" as const, "unknown" as const),
    kind: fc.constantFrom("click" as const, "qr_scan" as const),
    language: fc.constantFrom("de", "en-gb", "zh-hant", "x-pirate", undefined),
    name: word,
  })
  .map(({ referrer, name, ...click }) => {
    const page = referrerOf(referrer);
    const utm = { source: name, campaign: name.toUpperCase() };
    const named = { browser: { name, version: "" }, os: { name }, utm };
    const { data } = linkClicked({ ...click, ...named, referrer: page === "" ? undefined : page });
    return data;
  });
const SPELLINGS: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => value.toUpperCase(),
  (value) => value.toLowerCase(),
  (value) => value.normalize("NFD"),
  (value) => `  ${value}\t`,
];

describe("filters of clicks", () => {
  it("take every value that a click can have, in any case and form", async () => {
    await fc.assert(
      fc.asyncProperty(clicks, fc.constantFrom(...SPELLINGS), async (click, spelt) => {
        const texts = textsOf(click);
        for (const field of GROUPS) {
          const column = columnOf(field);
          if (field === "link" || field === "tag" || field === "domain") continue;
          const value = column
            ? (texts[COLUMNS.indexOf(column)] as string)
            : localValues(field as "hour", UTC)(Date.parse(click.at));
          if (value.trim() === "") continue;
          const [filter = ""] = await accepted(field, spelt(value));
          expect([field, comparable(field, filter)]).toEqual([field, comparable(field, value)]);
        }
      }),
    );
  });

  it("take hosts however they are written", async () => {
    const hosts = fc.constantFrom("xn--mller-kva.example", "go.example.com", "xn--r8jz45g.xn--zckzah");
    const host = fc.constantFrom<(host: string) => string>(
      (name) => name.toUpperCase(),
      domainToUnicode,
      (name) => encodeURIComponent(domainToUnicode(name)),
      (name) => `${domainToUnicode(name).toUpperCase()}.`,
      (name) => `https://${domainToUnicode(name)}:443/`,
    );
    await fc.assert(
      fc.asyncProperty(hosts, host, async (name, written) => {
        expect(await accepted("domain", written(name))).toEqual([name]);
        const [referrer = ""] = await accepted("referrer", written(name));
        expect(comparable("referrer", referrer)).toBe(name);
      }),
    );
    for (const page of ["https://www.news.example/a?b", "http://NEWS.example:8080/", "www.news.example."])
      expect(comparable("referrer", page)).toBe("news.example");
  });

  it.each<[GroupBy, typed: string, value: string]>([
    ["os", "linux", "linux"],
    ["country", "gb", "GB"],
    ["country", "Unknown", "unknown"],
    ["region", "bavaria,de", "bavaria, DE"],
    ["device", "MOBILE", "mobile"],
    ["kind", "QR scan", "qr_scan"],
    ["language", "en_GB", "en-gb"],
    ["language", "iw", "he"],
    ["hour", "9", "09"],
  ])("%s=%s is %s", async (field, typed, value) => {
    expect(await accepted(field, typed)).toEqual([value]);
  });

  it.each<[GroupBy, typed: string, meant: string]>([
    ["country", "UK", "GB"],
    ["country", "Germany", "DE"],
    ["country", "United Kingdon", "GB"],
    ["country", "USA", "US"],
    ["region", "London, UK", "London, GB"],
    ["device", "mobil", "mobile"],
    ["kind", "clicks", "click"],
    ["language", "English", "en"],
  ])("%s=%s is refused, and %s may be meant", async (field, typed, meant) => {
    const refused = await accepted(field, typed).catch((error: Error) => error);
    expect(isRefused(refused, "invalid_request") && refused.message).toContain(`did you mean ${meant}?`);
    expect(refused).toMatchObject({ field });
  });
});
