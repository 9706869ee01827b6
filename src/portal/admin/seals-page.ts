// GET /admin/seals: the seals of the log and its verifications. POST /admin/seals/verify: begins one.
import type { Api } from "../../api/fastify.ts";
import type { VerificationRun } from "../../audit/verification-runs.ts";
import { type ListedSeal, listSeals } from "../../queries/audit/list-seals.ts";
import { SealsQuestion } from "../../queries/audit/questions.ts";
import { isRefused } from "../../runtime/refused.ts";
import { count, counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { copyable, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { redirectTo } from "../shell/visit.ts";
import { type ConsoleDeps, operatorContext } from "./guard.ts";
import { CONSOLE_STYLES, empty, eventPath, nextPage, shortPosition, verdictBadge } from "./view.ts";

export function sealsPages(app: Api, deps: ConsoleDeps): void {
  const { verifications } = deps;

  app.get("/seals", { schema: { querystring: SealsQuestion } }, async ({ query }, reply) => {
    const [found, run] = await Promise.all([listSeals(deps, query), verifications.read()]);
    const { seals, next, sealed_up_to, public_key } = found;
    return sendPage(reply, {
      title: "Seals",
      nav: "Seals",
      styles: CONSOLE_STYLES,
      scripts: ["console.js"],
      body: html`<div class="page-head"><div><h1>Seals</h1>
<p class="muted">Signed digests of the log, every ten thousand events and after a quiet minute: a past that was changed is found.</p></div></div>
<section class="card"><h2>Verification</h2>${verification(run)}
<form method="post" action="/admin/seals/verify" class="actions">
<button class="button button-primary">Verify every event</button></form></section>
<section class="card"><h2>Sealed</h2><dl class="facts"><dt>Up to position</dt><dd>${sealed_up_to === null ? "Nothing on this page that can be trusted" : shortPosition(sealed_up_to)}</dd>
<dt>Public key</dt><dd>${copyable("public-key", public_key, "the public key")}</dd></dl></section>
${seals.length === 0 ? empty("No seals yet", "The first comes a minute after the last event.") : table(seals)}
${nextPage(next === null ? undefined : address("/admin/seals", { before: next }), "Older")}`,
    });
  });

  app.post("/seals/verify", async (request, reply) => {
    try {
      await verifications.start(operatorContext(request));
      return redirectTo(reply, "/admin/seals", { kind: "info", text: "The log is being verified." });
    } catch (error) {
      if (!isRefused(error, "verification_in_progress")) throw error;
      return redirectTo(reply, "/admin/seals", { kind: "failed", text: error.message });
    }
  });
}

/** `data-live`: console.js reloads it while `data-busy` is there. */
function verification(run: VerificationRun | undefined): Html {
  if (!run)
    return html`<div id="verification" data-live><p class="muted">The log has not been verified from here yet.</p></div>`;
  const { state, started_at, updated_at, events, result, error } = run;
  return html`<div id="verification" data-live ${state === "running" && html`data-busy`} class="stack">
${state === "running" && html`<p role="status"><span class="badge badge-accent">Running</span> ${counted(events, "event")} checked so far. Begun ${time(started_at)}.</p><progress aria-label="Verification"></progress>`}
${state === "interrupted" && html`<p><span class="badge badge-warn">Interrupted</span> It ended with its process, after ${counted(events, "event")}.</p>`}
${state === "failed" && html`<p><span class="badge badge-bad">Failed</span> ${error}</p>`}
${
  result &&
  html`<p role="status">${verdictBadge(result)} ${counted(events, "event")} checked ${time(updated_at)}.</p>
<p class="break">${result.sentence}</p>
${result.problems.length > 0 && problems(result)}
${copyable("anchor", result.anchor, "the anchor")}<p class="muted small">The anchor: give it to a later <code>linkledger audit verify --anchor</code>.</p>`
}</div>`;
}

function problems({ problems: found }: NonNullable<VerificationRun["result"]>): Html {
  return html`<table class="table"><caption class="visually-hidden">Problems</caption><thead><tr><th scope="col">Stream</th><th scope="col">Problem</th></tr></thead>
<tbody>${found.map(
    ({ stream, revision, check, message }) =>
      html`<tr><td>${stream === "" || revision < 0 ? "The log" : html`<a class="break" href="${eventPath(stream, revision)}">${stream}, revision ${revision}</a>`}</td><td data-label="Problem">${check}: ${message}</td></tr>`,
  )}</tbody></table>`;
}

const KEYS = {
  present: "this service",
  previous: "this service, earlier key",
  other: "another key",
} as const;

function table(seals: readonly ListedSeal[]): Html {
  return html`<section class="card"><table class="table"><caption class="visually-hidden">Seals, newest first</caption>
<thead><tr><th scope="col">Seal</th><th scope="col">Sealed</th><th scope="col" class="end">Events</th><th scope="col">Up to position</th><th scope="col">Signed by</th><th scope="col">State</th></tr></thead>
<tbody>${seals.map(
    ({ number, at, events, position, key, problem }) =>
      html`<tr><td><a href="${eventPath("seals", number)}"><strong>${number}</strong></a></td>
<td data-label="Sealed" class="nowrap">${at ? time(at) : "unknown"}</td>
<td data-label="Events" class="end number">${events === null ? "" : count(events)}</td>
<td data-label="Up to position">${position === null ? "" : html`<span class="break">${shortPosition(position)}</span>`}</td>
<td data-label="Signed by">${KEYS[key]}</td>
<td data-label="State">${problem === null ? html`<span class="badge badge-good">Good</span>` : html`<span class="badge badge-bad">${problem}</span>`}</td></tr>`,
  )}</tbody></table></section>`;
}
