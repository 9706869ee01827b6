// GET /admin: how projections and seals stand, and what the operator did last.
import type { Api } from "../../api/fastify.ts";
import type { SetAside } from "../../coordination/set-aside.ts";
import { operatorStream } from "../../events/streams.ts";
import { auditedEvent } from "../../queries/audit/audited-event.ts";
import { listSeals } from "../../queries/audit/list-seals.ts";
import { type ConsoleRow, consoleRows } from "../../queries/audit/projection-rows.ts";
import { counted } from "../links/link-view.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import type { ConsoleDeps } from "./guard.ts";
import { projectionPath, setAsideBadge, stateBadge } from "./projections/projection-view.ts";
import { CONSOLE_STYLES, duration, eventTable, shown, streamPath, verdictBadge } from "./view.ts";

const LAST_ACTS = 10;

export function overviewPage(app: Api, deps: ConsoleDeps): void {
  const { eventStore, verifications, clock } = deps;
  app.get("/", async (_request, reply) => {
    const stream = operatorStream(clock());
    const [{ projections, webhook_router: router }, { seals }, run, acts] = await Promise.all([
      consoleRows(deps),
      listSeals(deps, { limit: 1 }),
      verifications.read(),
      eventStore.read(stream, { backwards: true, limit: LAST_ACTS }),
    ]);
    const [seal] = seals;
    return sendPage(reply, {
      title: "Console",
      nav: "Overview",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1>Console</h1><p class="muted">The log of this service, and what is computed from it.</p></div></div>
<div class="grid"><section class="card stack"><h2>Projections</h2>${projectionsText(projections, router.set_aside)}<p><a href="/admin/projections">All projections</a></p></section>
<section class="card stack"><h2>Seals</h2>${
        seal
          ? html`<p>${seal.problem === null ? html`<span class="badge badge-good">Good</span>` : html`<span class="badge badge-bad">${seal.problem}</span>`} Seal ${seal.number}${seal.at && html`, ${time(seal.at)}`}</p>`
          : html`<p class="muted">None yet.</p>`
      }
<p>${run?.result ? html`${verdictBadge(run.result)} Checked ${time(run.updated_at)}.` : "Not verified from here yet."}</p><p><a href="/admin/seals">All seals</a></p></section></div>
<section class="card"><h2>What the operator did</h2>${
        acts.length === 0
          ? html`<p class="muted">Nothing this month.</p>`
          : html`${eventTable(
              acts.map((event) => shown(auditedEvent(event))),
              "What the operator did, newest first",
              { withStream: false },
            )}<p><a href="${streamPath(stream)}">All of this month</a></p>`
      }</section>`,
    });
  });
}

function projectionsText(rows: readonly ConsoleRow[], router: SetAside): Html {
  const special = rows.filter(
    ({ state, building, set_aside }) => state === "waiting" || building !== null || set_aside.count > 0,
  );
  const lag = Math.max(0, ...rows.map(({ lag_ms }) => lag_ms));
  return html`<p>${counted(rows.length, "projection")}, ${lag === 0 ? "all up to date" : `the slowest ${duration(lag)} behind`}.</p>
${special.length > 0 && html`<ul class="plain stack">${special.map((row) => html`<li><a href="${projectionPath(row.name)}">${row.name}</a> ${stateBadge(row)} ${setAsideBadge(row.set_aside)}</li>`)}</ul>`}
${router.count > 0 && html`<p><a href="/admin/projections">webhook router</a> ${setAsideBadge(router)}</p>`}`;
}
