// What the clicks of an answer are broken down by: cards with tabs of ranked bars, each of them a filter.
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { AccountAnswer, GroupBy } from "../../queries/analytics/account/question.ts";
import { type Html, html } from "../shell/html.ts";
import { live } from "./metrics.ts";
import { barsOf } from "./ranked-bars.ts";
import { FIELD_NAMES } from "./value-names.ts";
import type { AnalyticsView } from "./view-address.ts";

type CardOfGroups = { name: string; groups: readonly GroupBy[] };

const CARDS: readonly CardOfGroups[] = [
  { name: "What was followed", groups: ["link", "tag", "domain", "rule"] },
  { name: "Places", groups: ["country", "region", "city", "language"] },
  {
    name: "Sources",
    groups: ["referrer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"],
  },
  { name: "Devices", groups: ["device", "browser", "os"] },
  { name: "Times", groups: ["hour", "weekday"] },
];

/** What the page asks for: of one link its rules, of several which they are. */
export function groupsOf(link: LinkDocument | undefined): GroupBy[] {
  const left: readonly GroupBy[] = link ? ["link", "domain"] : ["rule"];
  return CARDS.flatMap(({ groups }) => groups).filter((group) => !left.includes(group));
}

/** Rows of a group that are asked for. */
export const MOST_ROWS = 50;
/** In which not each click has a value. */
const OPTIONAL: ReadonlySet<GroupBy> = new Set([
  "tag",
  "rule",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
]);

/** `link`: the one whose numbers they are. */
export function breakdownCards(
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
): Html {
  const cards = CARDS.map((card) => tabbedCard(card, view, answer, link));
  return html`<div class="grid breakdowns" id="breakdowns" ${live(view.range, answer)}>${cards}</div>`;
}

/** Without scripts: radio buttons, whose panels stand behind their labels. */
function tabbedCard(
  { name, groups }: CardOfGroups,
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
): Html | false {
  const shown = groups.flatMap((field) => {
    const group = answer.groups[field];
    const isFilter = view.filters[field] !== undefined;
    const isEmpty = group === undefined || (OPTIONAL.has(field) && group.rows.length === 0 && !isFilter);
    return isEmpty ? [] : [{ field, group }];
  });
  if (shown.length === 0) return false;
  const open = shown.find(({ field }) => view.open.includes(field)) ?? shown[0];
  const id = name.toLowerCase().replaceAll(" ", "-");
  const tabs = shown.map(
    ({ field, group }, index) =>
      html`<input type="radio" name="${id}" id="tab-${field}" value="${index === 0 ? "" : field}" autocomplete="off" ${field === open?.field && html`checked`}><label for="tab-${field}">${FIELD_NAMES[field][1]}</label>
<div class="panel">${barsOf(field, group, view, answer.totals, link)}</div>`,
  );
  return html`<section class="card"><h2 class="visually-hidden">${name}</h2><div class="tabs" role="group" aria-label="${name} by">${tabs}</div></section>`;
}
