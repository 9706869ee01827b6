// GET /admin/projections/:name: one projection, its builds, what it has set aside. POST below it: what the operator can do.
import { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { type ConsoleRow, consoleRows } from "../../../queries/audit/projection-rows.ts";
import { isClientError, Refused } from "../../../runtime/refused.ts";
import { address } from "../../shell/address.ts";
import { confirmed } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import { redirectTo } from "../../shell/visit.ts";
import { PROJECTION_ACTS, type ProjectionAct, performAct } from "../acts.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";
import { CONSOLE_STYLES, shortPosition, streamPath } from "../view.ts";
import {
  buildText,
  isWaiting,
  lagText,
  progressBar,
  projectionPath,
  setAsideCard,
  stateBadge,
} from "./projection-view.ts";

const Params = z.object({ name: z.string().max(100) });
const ActParams = Params.extend({ act: z.enum(PROJECTION_ACTS) });
const ActForm = z.object({ waits: z.enum(["yes"]).optional() });

const DONE: Readonly<Record<ProjectionAct, string>> = {
  rebuild: "A new build is being computed, beside the one that answers.",
  cancel: "The build was cancelled, and what it had computed is dropped.",
  activate: "The build takes over as soon as it has caught up.",
  rollback: "The previous build takes in what it lacks, and then takes over.",
};

export function projectionPages(app: Api, deps: ConsoleDeps): void {
  app.get("/projections/:name", { schema: { params: Params } }, async ({ params: { name } }, reply) => {
    const { projections } = await consoleRows(deps);
    const row = projections.find((one) => one.name === name);
    if (!row) throw new Refused("unknown_projection", `There is no projection ${name}`);
    return sendPage(reply, {
      title: name,
      nav: "Projections",
      styles: CONSOLE_STYLES,
      scripts: ["console.js"],
      body: html`<div class="page-head"><div><p class="small"><a href="/admin/projections">Projections</a></p><h1>${name}</h1></div></div>
${row.waits_for && waitCard(row.waits_for)}
${setAsideCard(row.set_aside, html`They are in none of its documents; everything else is. Once they can be read, or a program is started that understands them, a rebuild counts them in.`)}
<section class="card stack" id="status" data-live ${isBusy(row) && html`data-busy`}><h2>State ${stateBadge(row)}</h2>
<dl class="facts"><dt>Answers from</dt><dd>${buildText(row.active)}</dd><dt>Previous build</dt><dd>${buildText(row.previous)}</dd>
<dt>Version of the program</dt><dd>${row.version}</dd>
<dt>Position</dt><dd>${row.position === null ? "the beginning" : shortPosition(row.position)}</dd><dt>Lag</dt><dd>${lagText(row)}</dd></dl>
${row.building && html`<div role="status">${progressBar(name, row.building)}${isWaiting(row) && html`<p>Complete: it waits to take over${row.building.rules !== null && html`, with clicks by rules ${row.building.rules}`}.</p>`}</div>`}</section>
<section class="card" id="acts" data-live><h2>What you can do</h2>${row.active && row.active.rules !== null && asRecorded}<div class="actions">${acts(row)}</div></section>`,
    });
  });

  const schema = { params: ActParams, body: ActForm };
  app.post("/projections/:name/:act", { schema }, async (request, reply) => {
    const { name, act } = request.params;
    const waits = request.body.waits === "yes";
    const notice = await performAct(deps, operatorContext(request), { act, projection: name, waits }).then(
      () => ({ kind: "done", text: DONE[act] }) as const,
      (error: unknown) => {
        // What refuses the act is told where it was asked for; other errors have a page of their own.
        if (!isClientError(error)) throw error;
        return { kind: "failed", text: `${error.message}.` } as const;
      },
    );
    return redirectTo(reply, projectionPath(name), notice);
  });
}

const asRecorded = html`<p class="muted">A rebuild counts clicks as they were recorded, not by these rules: <code>linkledger projections build --rules</code> classifies them again.</p>`;

/** Something is about to change by itself. */
function isBusy(row: ConsoleRow): boolean {
  return (row.building !== null && !isWaiting(row)) || row.state === "behind";
}

function acts(row: ConsoleRow): Html {
  const form = (act: ProjectionAct, label: string, kind = "", more?: Html) =>
    html`<form method="post" action="${projectionPath(row.name, `/${act}`)}" class="stack">${more}<div><button class="button ${kind}">${label}</button></div></form>`;
  const { building, active, previous, name } = row;
  return html`${
    building === null &&
    html`${form("rebuild", "Rebuild", "button-primary")}${form("rebuild", "Rebuild without switching", "", html`<input type="hidden" name="waits" value="yes">`)}`
  }
${isWaiting(row) && form("activate", "Let it take over", "button-primary")}
${
  building !== null &&
  active !== null &&
  confirmed(
    "Cancel the build",
    html`<p>What build ${building.build} of ${name} has computed is dropped. What answers now goes on.</p>`,
    form("cancel", "Cancel it", "button-danger"),
  )
}
${
  previous !== null &&
  building === null &&
  confirmed(
    "Roll back",
    html`<p>${buildText(previous)} takes in what it lacks, then queries are answered from it again, and this one is kept.</p>`,
    form("rollback", "Roll back", "button-danger"),
  )
}`;
}

function waitCard({ stream, type, position }: NonNullable<ConsoleRow["waits_for"]>): Html {
  return html`<section class="card card-danger"><h2>${icon("alert")}Waits for a newer program</h2>
<dl class="facts"><dt>Event</dt><dd>${type} at position <a href="${address("/admin/log", { from: position })}">${shortPosition(position)}</a></dd>
<dt>Stream</dt><dd><a class="break" href="${streamPath(stream)}">${stream}</a></dd></dl>
<p class="muted">A newer program has written it: one that is started goes on from here.</p></section>`;
}
