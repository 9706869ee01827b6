// What the numbers of a page are filtered by, as it stands in its address.
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { GroupBy } from "../../queries/analytics/question.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { FIELD_NAMES, valueName } from "./value-names.ts";
import { type AnalyticsView, viewAddress, withoutAddress } from "./view-address.ts";

/** Each taken away by a click. `link`: the one whose numbers they are. */
export function filterChips(view: AnalyticsView, link?: LinkDocument): Html | false {
  const chips = Object.entries(view.filters).flatMap(([field, values]) =>
    (values as readonly string[]).map((value) => {
      const [name] = FIELD_NAMES[field as GroupBy];
      const shown = valueName(field as GroupBy, value, link);
      return html`<li><a class="badge chip" href="${withoutAddress(view, field as GroupBy, value)}" title="Take this filter away"><span class="chip-field">${name}</span><span class="clip">${shown}</span>${icon("close")}<span class="visually-hidden">: take away</span></a></li>`;
    }),
  );
  if (chips.length === 0) return false;
  const without = viewAddress(view, { filters: view.shared ?? {} });
  const all = chips.length > 1 && html`<li><a class="small" href="${without}">Clear all</a></li>`;
  return html`<ul class="chips" aria-label="Filters">${chips}${all}</ul>`;
}
