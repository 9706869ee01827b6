// GET /admin/projections: all projections with their builds, lag and speed, and the events that were set aside.
import type { Api } from "../../../api/fastify.ts";
import { type ConsoleRow, consoleRows } from "../../../queries/audit/projection-rows.ts";
import { count } from "../../links/link-view.ts";
import { type Html, html } from "../../shell/html.ts";
import { sendPage } from "../../shell/page.ts";
import type { ConsoleDeps } from "../guard.ts";
import type { LiveRates } from "../live-rates.ts";
import { CONSOLE_STYLES, shortPosition } from "../view.ts";
import {
  buildText,
  lagText,
  progressBar,
  projectionPath,
  setAsideBadge,
  setAsideCard,
  stateBadge,
} from "./projection-view.ts";

export function projectionsPage(app: Api, deps: ConsoleDeps & { rates: LiveRates }): void {
  app.get("/projections", async (_request, reply) => {
    const [{ head, projections, webhook_router: router }, rates] = await Promise.all([
      consoleRows(deps),
      deps.rates(),
    ]);
    return sendPage(reply, {
      title: "Projections",
      nav: "Projections",
      styles: CONSOLE_STYLES,
      scripts: ["console.js"],
      body: html`<div class="page-head"><div><h1>Projections</h1>
<p class="muted">What is answered is computed from the log${head !== null && html`, which ends at position ${shortPosition(head)}`}. An event that can't be taken in is set aside, and all others count.</p></div></div>
<section class="card"><table class="table"><caption class="visually-hidden">Projections</caption>
<thead><tr><th scope="col">Projection</th><th scope="col">State</th><th scope="col">Answers from</th><th scope="col">Position</th><th scope="col">Lag</th><th scope="col" class="end">Events/s</th></tr></thead>
<tbody id="projections" data-live data-busy>${projections.map((row) => line(row, rates.get(row.name)))}</tbody></table></section>
${setAsideCard(router.set_aside, html`The router of webhooks has passed them: what depends on them was not delivered.`)}`,
    });
  });
}

function line(row: ConsoleRow, rate: number | undefined): Html {
  const { name, active, building, position } = row;
  return html`<tr><td><a href="${projectionPath(name)}"><strong>${name}</strong></a></td>
<td data-label="State">${stateBadge(row)} ${setAsideBadge(row.set_aside)}${building && progressBar(name, building)}</td>
<td data-label="Answers from" class="small">${buildText(active)}</td>
<td data-label="Position" class="number">${position === null ? "the beginning" : html`<span class="break">${shortPosition(position)}</span>`}</td>
<td data-label="Lag" class="nowrap">${lagText(row)}</td>
<td data-label="Events/s" class="end number">${rate === undefined ? "–" : count(rate)}</td></tr>`;
}
