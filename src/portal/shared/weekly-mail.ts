// The weekly mail of an account's numbers: plain text and simple HTML of the same lines.
import type { Mail } from "../../commands/mail/mailer.ts";
import type { AccountAnswer, GroupBy, GroupRow, Totals } from "../../queries/analytics/question.ts";
import { addressIn } from "../account-address.ts";
import { METRIC_ROWS, metricText } from "../analytics/metrics.ts";
import { FIELD_NAMES, valueName } from "../analytics/value-names.ts";
import { ANALYTICS } from "../analytics/view-address.ts";
import { count, counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { html, htmlText } from "../shell/html.ts";
import { filtersInWords } from "./view-in-words.ts";

/** What the mail asks for. */
export const MAIL_GROUPS = ["link", "country", "referrer"] as const satisfies readonly GroupBy[];
export const MAIL_ROWS = 5;
const METRICS = ["people", "visitors", "qr_scan"] as const satisfies readonly (keyof Totals)[];
const DAY = { day: "numeric", month: "long", year: "numeric" } as const;

/** `answer`: of the week, with the one before it. `zone`: IANA name. `stopUrl`: stops the mail. */
type Week = {
  to: string;
  accountId: string;
  name: string;
  filters: Readonly<Record<string, readonly string[]>>;
  answer: AccountAnswer;
  zone: string;
  baseUrl: string;
  stopUrl: string;
};

export function weeklyMail({ to, accountId, name, filters, answer, zone, baseUrl, stopUrl }: Week): Mail {
  const days = new Intl.DateTimeFormat("en", { ...DAY, timeZone: zone });
  const week = days.formatRange(answer.from, answer.to - 1);
  const date = new Intl.DateTimeFormat("en-CA", { timeZone: zone });
  const [from, until] = [date.format(answer.from), date.format(answer.to - 1)];
  const range = { range: "custom", from, to: until, timezone: zone };
  const all = baseUrl + address(addressIn(accountId, ANALYTICS), { ...range, ...filters });
  const of = filtersInWords(filters);
  const numbers = METRICS.map((metric) => ({
    name: METRIC_ROWS[metric].name,
    value: metricText(answer.totals, metric),
    change: changeOf(answer.totals[metric], answer.previous?.totals[metric] ?? null),
  }));
  const lists = MAIL_GROUPS.map((field) => ({
    title: FIELD_NAMES[field][1],
    rows: (answer.groups[field]?.rows ?? [])
      .filter(({ people }) => people > 0)
      .map((row) => rowOf(field, row)),
  })).filter(({ rows }) => rows.length > 0);
  const text = [
    `${name}\n${week}, ${of}.`,
    numbers
      .map(({ name: metric, value, change }) => `${metric}: ${value}${change && ` (${change})`}`)
      .join("\n"),
    ...lists.map(
      ({ title, rows }) => `${title}\n${rows.map((row) => `  ${row.value}  ${row.name}`).join("\n")}`,
    ),
    `All numbers: ${all}`,
    `Stop this mail: ${stopUrl}`,
  ].join("\n\n");
  const body = html`<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;max-width:36rem">
<h1 style="font-size:1.25rem">${name}</h1><p>${week}, ${of}.</p>
<table cellpadding="4">${numbers.map(({ name: metric, value, change }) => html`<tr><td>${metric}</td><td align="right"><strong>${value}</strong></td><td>${change}</td></tr>`)}</table>
${lists.map(({ title, rows }) => html`<h2 style="font-size:1rem">${title}</h2><table cellpadding="4">${rows.map((row) => html`<tr><td align="right">${row.value}</td><td>${row.name}</td></tr>`)}</table>`)}
<p><a href="${all}">All numbers</a></p><p><small><a href="${stopUrl}">Stop this mail</a></small></p></body></html>`;
  const subject = `${name}: ${counted(answer.totals.people, "click")} last week`;
  return { to, subject, text: `${text}\n`, html: htmlText(body), stopUrl };
}

function rowOf(field: GroupBy, { value, label, people }: GroupRow) {
  return { name: label ?? valueName(field, value), value: count(people) };
}

/** Such as `+12%, 100 the week before`. */
function changeOf(now: number | null, before: number | null): string {
  if (now === null || before === null) return "";
  const was = `${count(before)} the week before`;
  if (before === 0 || now === before) return was;
  const share = Math.round((Math.abs(now - before) / before) * 100);
  return `${now > before ? "+" : "−"}${share}%, ${was}`;
}
