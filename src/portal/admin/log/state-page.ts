// GET /admin/state: what a stream's events come to as of a revision, and the difference to an earlier one.
import type { Api } from "../../../api/fastify.ts";
import { StateQuestion } from "../../../queries/audit/questions.ts";
import { type StateChange, type StreamState, streamState } from "../../../queries/audit/stream-state.ts";
import { field } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { sendPage } from "../../shell/page.ts";
import type { ConsoleDeps } from "../guard.ts";
import { CONSOLE_STYLES, empty, eventPath, jsonBlock, shownValue, streamPath } from "../view.ts";

export function statePage(app: Api, deps: ConsoleDeps): void {
  app.get("/state", { schema: { querystring: StateQuestion } }, async ({ query }, reply) => {
    const found = await streamState(deps, query.stream, query);
    const { stream, revision } = found;
    return sendPage(reply, {
      title: `State of ${stream}`,
      nav: "Streams",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><p class="small"><a href="/admin/streams">Streams</a> / <a class="break" href="${streamPath(stream)}">${stream}</a></p>
<h1>State after revision ${revision}</h1></div>
<a class="button" href="${eventPath(stream, revision)}">Event</a></div>
${found.has_state ? html`${revisions(found)}${changes(found)}<section class="card"><h2>State</h2>${jsonBlock(found.state, "State")}</section>` : empty("No state", "The events of this stream are facts that add up to no state.")}`,
    });
  });
}

function revisions({ stream, revision, against, last_revision }: StreamState): Html {
  return html`<form method="get" action="/admin/state" class="card console-filters"><input type="hidden" name="stream" value="${stream}">
${field({ label: "Revision", name: "revision", type: "number", value: String(revision), hint: `0 to ${last_revision}` })}
${field({ label: "Compared with", name: "against", type: "number", value: String(against), hint: "-1: before the first event" })}
<button class="button">Compare</button></form>`;
}

function changes({ changes: found, against, revision }: StreamState): Html {
  const what = against === -1 ? "the time before the first event" : `revision ${against}`;
  return html`<section class="card"><h2>Difference to ${what}</h2>
${
  found.length === 0
    ? html`<p class="muted">No difference.</p>`
    : html`<table class="table"><caption class="visually-hidden">Difference</caption>
<thead><tr><th scope="col">What</th><th scope="col">${against === -1 ? "Before" : `Revision ${against}`}</th><th scope="col">Revision ${revision}</th></tr></thead><tbody>${found.map(row)}</tbody></table>`
}</section>`;
}

function row({ path, before, after }: StateChange): Html {
  return html`<tr><td><code class="break">${path}</code></td><td data-label="Before"><del class="was break">${shownValue(before)}</del></td><td data-label="After"><ins class="is break">${shownValue(after)}</ins></td></tr>`;
}
