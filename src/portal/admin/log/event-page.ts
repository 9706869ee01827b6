// GET /admin/event: one event, its fields explained, its metadata, and as JSON.
import type { Api } from "../../../api/fastify.ts";
import { actorKey } from "../../../projections/definitions/event-index.ts";
import { type KeyDocument, keys } from "../../../projections/definitions/keys.ts";
import {
  type auditedEvent,
  type ExplainedEvent,
  explainedEvent,
} from "../../../queries/audit/audited-event.ts";
import { EventQuestion } from "../../../queries/audit/questions.ts";
import { hasState } from "../../../queries/audit/stream-state.ts";
import { ownerOf } from "../../../queries/feed/account-events.ts";
import { address } from "../../shell/address.ts";
import { copyable, time } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { sendPage } from "../../shell/page.ts";
import type { ConsoleDeps } from "../guard.ts";
import {
  actorLink,
  CONSOLE_STYLES,
  eventPath,
  jsonBlock,
  shownValue,
  statePath,
  streamPath,
} from "../view.ts";

export function eventPage(app: Api, deps: ConsoleDeps): void {
  app.get("/event", { schema: { querystring: EventQuestion } }, async ({ query }, reply) => {
    const event = await explainedEvent(deps, query.stream, query.revision);
    const [later] = await deps.eventStore.read(event.stream, { from: event.revision + 1, limit: 1 });
    const { summary: _, fields: __, ...raw } = event;
    return sendPage(reply, {
      title: `${event.type || "Unreadable event"}, revision ${event.revision}`,
      nav: "Streams",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><p class="small"><a href="/admin/streams">Streams</a> / <a class="break" href="${streamPath(event.stream)}">${event.stream}</a></p>
<h1>${event.type || "Unreadable event"}</h1><p class="muted">${event.error === null ? event.summary : html`<span class="badge badge-bad">Can't be read</span> <span class="break">${event.error}</span>`}</p></div>
<nav class="actions" aria-label="Neighbours">${event.revision > 0 && html`<a class="button" rel="prev" href="${eventPath(event.stream, event.revision - 1)}">Earlier event</a>`}
${later && html`<a class="button" rel="next" href="${eventPath(event.stream, event.revision + 1)}">Later event</a>`}</nav></div>
${fieldsCard(event)}
${metadataCard(event, await keyLabel(deps, event))}
<section class="card"><h2>As JSON</h2>${jsonBlock(raw, "The event as JSON")}
${event.withheld.length > 0 && html`<p class="muted small">Withheld: ${event.withheld.join(", ")}. <code>linkledger audit stream</code> on the server prints everything.</p>`}</section>`,
    });
  });
}

function fieldsCard({ fields }: ExplainedEvent): Html {
  return html`<section class="card"><h2>Fields</h2><table class="table"><caption class="visually-hidden">Fields of the event</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Value</th><th scope="col">What it is</th></tr></thead>
<tbody>${fields.map(
    ({ name, value, about }) =>
      html`<tr><td><code>${name}</code></td><td data-label="Value"><span class="break">${shownValue(value)}</span></td><td data-label="What it is" class="muted">${about}</td></tr>`,
  )}</tbody></table></section>`;
}

function metadataCard(event: ExplainedEvent, key: string | undefined): Html {
  const { stream, revision, position, id, actor, correlation_id, causation_id } = event;
  const account = ownerOf(event);
  return html`<section class="card"><h2>Metadata</h2><dl class="facts">
<dt>Recorded</dt><dd>${time(event.recorded_at)} <code class="small">${event.recorded_at}</code></dd>
<dt>By</dt><dd>${actorLink(actorKey(actor))} ${key && html`<span class="muted">${key}</span>`}</dd>
${account && html`<dt>Account</dt><dd><a href="${address("/admin/events", { account })}">${account}</a></dd>`}
<dt>Correlation id</dt><dd><a href="${address("/admin/events", { correlation_id })}">${correlation_id}</a></dd>
<dt>Causation id</dt><dd>${causation_id}</dd>
<dt>Schema version</dt><dd>${event.schema_version}</dd>
<dt>Revision</dt><dd>${revision} of <a class="break" href="${streamPath(stream)}">${stream}</a>${hasState(stream) && html` · <a href="${statePath(stream, revision)}">State after this event</a>`}</dd>
<dt>Position</dt><dd><a class="break" href="${address("/admin/log", { from: position })}">${position}</a></dd>
<dt>Event id</dt><dd>${copyable("event-id", id, "the event id")}</dd></dl></section>`;
}

/** What its owner calls the key; none when it is unknown. */
async function keyLabel(
  { readStore }: ConsoleDeps,
  { actor }: Pick<ReturnType<typeof auditedEvent>, "actor">,
) {
  if (actor.type !== "key") return undefined;
  const key = await readStore.get<KeyDocument>(keys.collection.name, actor.id);
  return key && `${key.label === "" ? "" : `“${key.label}”, `}ends in ${key.hint}`;
}
