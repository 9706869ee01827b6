// Links on a page of analytics to what it shows as a file.
import type { GroupBy } from "../../queries/analytics/question.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { type AnalyticsView, viewAddress } from "./view-address.ts";

/** `what`: for screen readers. */
export function exportLink(view: AnalyticsView, of: "series" | GroupBy, what: string): Html {
  return fileLink(
    view,
    "numbers.csv",
    "CSV",
    html`<span class="visually-hidden">: ${what}</span>`,
    `&of=${of}`,
  );
}

export function fileLink(view: AnalyticsView, file: string, name: string, more?: Html, query = ""): Html {
  const path = `/portal/analytics/${file}`;
  return html`<a class="button button-small" href="${viewAddress(view, { path, open: [] })}${query}" download>${icon("download")}${name}${more}</a>`;
}
