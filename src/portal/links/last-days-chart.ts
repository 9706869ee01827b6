// A small chart of a link's clicks in the last days, for a row of a list, with the same in words.
import { LAST_DAYS, lastDaysUntil } from "../../projections/definitions/days/last-days.ts";
import type { ListedLink } from "../../queries/links/list-links.ts";
import { type Html, html } from "../shell/html.ts";
import { count, counted } from "./link-view.ts";

const HEIGHT = 20;
const BAR = 5;

/** `today`: YYYY-MM-DD, UTC. */
export function lastDaysChart(
  { lastDays, date }: Pick<ListedLink, "lastDays" | "date">,
  today: string,
): Html {
  const days = lastDaysUntil(today, lastDays, date);
  const most = Math.max(...days);
  const bars = days.map((clicks, n) => {
    const height = clicks === 0 ? 1 : Math.max(2, Math.round((clicks / most) * HEIGHT));
    return `M${n * (BAR + 1)} ${HEIGHT}v-${height}h${BAR}v${height}z`;
  });
  const sum = days.reduce((all, clicks) => all + clicks, 0);
  const text = `${counted(sum, "click")} in the last ${LAST_DAYS} days${sum > 0 ? `, at most ${count(most)} a day` : ""}`;
  return html`<svg class="last-days" role="img" aria-label="${text}" width="${LAST_DAYS * (BAR + 1)}" height="${HEIGHT}" viewBox="0 0 ${LAST_DAYS * (BAR + 1)} ${HEIGHT}"><title>${text}</title><path d="${bars.join("")}"/></svg>`;
}
