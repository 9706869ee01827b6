// GET /admin: how projections and seals stand, and what the operator did last.
import type { Api } from "../../api/fastify.ts";
import { findEvents } from "../../queries/audit/find-events.ts";
import { listSeals } from "../../queries/audit/list-seals.ts";
import { type ProjectionRows, projectionRows } from "../../queries/audit/projection-rows.ts";
import { counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { card } from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import { setAsideBadge, stateBadge } from "./projection-pages.ts";
import { sendConsolePage } from "./question-page.ts";
import {
  duration,
  problemBadge,
  projectionPath,
  STREAM_EVENT_COLUMNS,
  tableCard,
  verdictBadge,
} from "./view.ts";

const LAST_ACTS = 10;

export function overviewPage(app: Api, deps: ConsoleDeps): void {
  app.get("/", async (_request, reply) => {
    const [rows, { seals }, run, { events: acts }] = await Promise.all([
      projectionRows(deps),
      listSeals(deps, { limit: 1 }),
      deps.verifications.read(),
      findEvents(deps, { actor: "operator" }, { limit: LAST_ACTS }),
    ]);
    const [seal] = seals;
    const sealText = seal
      ? html`<p>${problemBadge(seal.problem)} Seal ${seal.number}${seal.at && html`, ${time(seal.at)}`}</p>`
      : html`<p class="muted">None yet.</p>`;
    const verified = run?.result
      ? html`${verdictBadge(run.result)} Checked ${time(run.updated_at)}.`
      : "Not verified from here yet.";
    return sendConsolePage(reply, {
      ...{ nav: "Overview", title: "Console" },
      lead: "The log of this service, and what is computed from it.",
      body: html`<div class="grid">${card("Projections", html`${projectionsText(rows)}<p><a href="/admin/projections">All projections</a></p>`)}
${card("Seals", html`${sealText}<p>${verified}</p><p><a href="/admin/seals">All seals</a></p>`)}</div>
${tableCard("What the operator did, newest first", acts, STREAM_EVENT_COLUMNS, "Nothing yet.")}
<p><a href="${address("/admin/events", { actor: "operator" })}">All that the operator did</a></p>`,
    });
  });
}

function projectionsText({ projections, webhook_router: { set_aside: router } }: ProjectionRows): Html {
  const special = projections.filter(
    ({ state, building, set_aside }) => state === "waiting" || building !== null || set_aside.count > 0,
  );
  const lag = Math.max(0, ...projections.map(({ lag_ms }) => lag_ms));
  return html`<p>${counted(projections.length, "projection")}, ${lag === 0 ? "all up to date" : `the slowest ${duration(lag)} behind`}.</p>
${special.length > 0 && html`<ul class="plain stack">${special.map((row) => html`<li><a href="${projectionPath(row.name)}">${row.name}</a> ${stateBadge(row)} ${setAsideBadge(row.set_aside)}</li>`)}</ul>`}
${router.count > 0 && html`<p><a href="/admin/projections">webhook router</a> ${setAsideBadge(router)}</p>`}`;
}
