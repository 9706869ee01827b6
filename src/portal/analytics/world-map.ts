// Where clicks came from, on a small map of the world, each country a filter. Screen readers have the list of countries.
import type { Group } from "../../queries/analytics/question.ts";
import { count } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import { card } from "../shell/parts.ts";
import { knownMetric, metricNoun, numberOf, shadeOf } from "./metrics.ts";
import { countryName } from "./value-names.ts";
import { type AnalyticsView, filterAddress } from "./view-address.ts";

/** `world`: address of the drawing, whose parts are named by the codes of countries. */
export function worldMap(view: AnalyticsView, { rows }: Group, world: string): Html {
  const metric = knownMetric(rows, view.show);
  const most = Math.max(1, ...rows.map((row) => numberOf(row, metric)));
  const countries = rows.flatMap((row) => {
    const number = numberOf(row, metric);
    if (number === 0 || !/^[A-Z]{2}$/.test(row.value)) return [];
    const title = `${countryName(row.value)}: ${count(number)} ${metricNoun(metric, number)}`;
    // A country with few clicks among many still stands out from those with none.
    const shade = shadeOf(Math.sqrt(number), Math.sqrt(most));
    return html`<a href="${filterAddress(view, "country", row.value)}" tabindex="-1"><title>${title}</title><use class="shade-${shade}" href="${world}#${row.value}"/></a>`;
  });
  return card(
    "Map",
    html`<svg class="world" viewBox="0 0 720 344" aria-hidden="true"><use href="${world}#world"/>${countries}</svg>`,
  );
}
