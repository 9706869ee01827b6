// What the clicks of an answer are broken down by: cards with tabs of ranked bars, each of them a filter.
import { SHARED_CARDS, type SharedCard } from "../../events/accounts/sharing-events.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { AccountAnswer, GroupBy } from "../../queries/analytics/question.ts";
import { type Html, html } from "../shell/html.ts";
import { live } from "./metrics.ts";
import { barsOf } from "./ranked-bars.ts";
import { FIELD_NAMES } from "./value-names.ts";
import type { AnalyticsView } from "./view-address.ts";
import { worldMap } from "./world-map.ts";

type CardOfGroups = { key: SharedCard; name: string; groups: readonly GroupBy[] };

export const CARDS: readonly CardOfGroups[] = [
  { key: "links", name: "What was followed", groups: ["link", "tag", "domain", "rule"] },
  { key: "places", name: "Places", groups: ["country", "region", "city", "language"] },
  {
    key: "sources",
    name: "Sources",
    groups: ["referrer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"],
  },
  { key: "devices", name: "Devices", groups: ["device", "browser", "os"] },
  { key: "times", name: "Times", groups: ["hour", "weekday"] },
];

/** Of one link its rules, of several which they are. */
const LEFT_OUT: Readonly<Record<"account" | "link", readonly GroupBy[]>> = {
  account: ["rule"],
  link: ["link", "domain"],
};

/** What the page asks for. `link`: the one whose numbers they are. `shown`: of a shared page. */
export function groupsOf(
  link: LinkDocument | undefined,
  shown: readonly SharedCard[] = SHARED_CARDS,
): GroupBy[] {
  const leftOut = LEFT_OUT[link ? "link" : "account"];
  return CARDS.filter(({ key }) => shown.includes(key))
    .flatMap(({ groups }) => groups)
    .filter((group) => !leftOut.includes(group));
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

/** `link`: the one whose numbers they are. `world`: address of the map. */
export function breakdownCards(
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
  world: string,
): Html {
  const { country } = answer.groups;
  const cards = CARDS.map((card) => [
    tabbedCard(card, view, answer, link),
    card.groups.includes("country") && country && worldMap(view, country, world),
  ]);
  return html`<div class="grid breakdowns" id="breakdowns" ${live(view.range)}>${cards}</div>`;
}

/** Without scripts: radio buttons, whose panels stand behind their labels. */
function tabbedCard(
  { name, groups }: CardOfGroups,
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
): Html | false {
  const shown = groups
    .filter((field) => {
      const group = answer.groups[field];
      if (group === undefined) return false;
      return !OPTIONAL.has(field) || group.rows.length > 0 || view.filters[field] !== undefined;
    })
    .map((field) => ({ field, group: answer.groups[field] }));
  if (shown.length === 0) return false;
  const open = shown.find(({ field }) => view.open.includes(field)) ?? shown[0];
  const id = name.toLowerCase().replaceAll(" ", "-");
  const tabs = shown.map(
    ({ field, group }, index) =>
      html`<input type="radio" name="${id}" id="tab-${field}" value="${index === 0 ? "" : field}" autocomplete="off" ${field === open?.field && html`checked`}><label for="tab-${field}">${FIELD_NAMES[field][1]}</label>
<div class="panel">${group && barsOf(field, group, view, answer.totals, link)}</div>`,
  );
  return html`<section class="card"><h2 class="visually-hidden">${name}</h2><div class="tabs" role="group" aria-label="${name} by">${tabs}</div></section>`;
}
