// The formats of a click export: CSV and JSON Lines.
import { UTM_FIELDS } from "../events/vocabulary.ts";
import type { LiveClick } from "../queries/analytics/live-clicks.ts";

const COLUMNS: readonly [name: string, of: (click: LiveClick) => string][] = [
  ["at", ({ at }) => at],
  ["type", ({ kind }) => kind],
  ["long_url", ({ longUrl }) => longUrl],
  ["device", ({ device }) => device],
  ["browser", ({ browser }) => browser.name],
  ["browser_version", ({ browser }) => browser.version],
  ["os", ({ os }) => os.name],
  ["country", ({ country }) => country],
  ["region", ({ region }) => region],
  ["city", ({ city }) => city],
  ["language", ({ language }) => language],
  ["referrer", ({ referrer }) => referrer],
  ...UTM_FIELDS.map((field): [string, (click: LiveClick) => string] => [
    `utm_${field}`,
    ({ utm }) => utm[field] ?? "",
  ]),
  ["ip", ({ ip }) => ip],
  ["user_agent", ({ userAgent }) => userAgent],
  ["visitor", ({ visitor }) => visitor],
];

export const CLICK_FORMATS = ["csv", "ndjson"] as const;
export type ClickFormat = (typeof CLICK_FORMATS)[number];

/** `head`: start of the file. `line`: one click, with its line end. */
export const CLICK_LINES: Readonly<
  Record<ClickFormat, { head: string; line: (click: LiveClick) => string }>
> = {
  csv: {
    head: `${COLUMNS.map(([name]) => name).join(",")}\r\n`,
    line: (click) => `${COLUMNS.map(([, of]) => cell(of(click))).join(",")}\r\n`,
  },
  ndjson: { head: "", line: (click) => `${JSON.stringify(rowOf(click))}\n` },
};

function rowOf(click: LiveClick): Record<string, string> {
  return Object.fromEntries(COLUMNS.map(([name, of]) => [name, of(click)]));
}

/**
 * RFC 4180. Values come from strangers' requests, so one that a spreadsheet would run as a formula gets a leading
 * quote.
 */
function cell(value: string): string {
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
