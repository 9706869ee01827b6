// GET /admin/event: one event, its fields explained, its metadata, and as JSON. GET /admin/state: what a stream's events
// come to as of a revision, and the difference to an earlier one.
import type { Api } from "../../api/fastify.ts";
import { actorKey } from "../../projections/definitions/event-index.ts";
import { type KeyDocument, keys } from "../../projections/definitions/keys.ts";
import type { ExplainedEvent } from "../../queries/audit/audited-event.ts";
import { questions } from "../../queries/audit/questions.ts";
import { hasState, type StreamState } from "../../queries/audit/stream-state.ts";
import { ownerOf } from "../../queries/feed/account-events.ts";
import { address } from "../shell/address.ts";
import { type Html, html } from "../shell/html.ts";
import { type Columns, card, copyable, emptyCard, facts, time } from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import { questionPage } from "./question-page.ts";
import {
  actorLink,
  badge,
  eventPath,
  jsonBlock,
  positionLink,
  shownMember,
  shownValue,
  statePath,
  streamPath,
  tableCard,
} from "./view.ts";

export function eventPages(app: Api, deps: ConsoleDeps): void {
  const { event, state } = questions;
  questionPage(app, deps, "/event", event, {
    async show(answer, { stream, revision }) {
      const event = answer as ExplainedEvent;
      const [later] = await deps.eventStore.read(stream, { from: revision + 1, limit: 1 });
      const { summary, fields, ...raw } = event;
      const heading = event.type || "Unreadable event";
      return {
        nav: "Streams",
        title: `${heading}, revision ${revision}`,
        heading,
        above: placeOf(stream),
        lead:
          event.error === null
            ? summary
            : html`${badge("bad", "Can't be read")} <span class="break">${event.error}</span>`,
        actions: html`${revision > 0 && html`<a class="button" rel="prev" href="${eventPath(stream, revision - 1)}">Earlier event</a>`}
${later && html`<a class="button" rel="next" href="${eventPath(stream, revision + 1)}">Later event</a>`}`,
        body: html`${tableCard("Fields", fields, {
          Field: ({ name }) => html`<code>${name}</code>`,
          Value: ({ value }) => html`<span class="break">${shownValue(value)}</span>`,
          "What it is": ({ about }) => html`<span class="muted">${about}</span>`,
        })}
${card("Metadata", metadata(event, await keyLabel(deps, event)))}
${card("As JSON", html`${jsonBlock(raw, "The event as JSON")}${event.withheld.length > 0 && html`<p class="muted small">Withheld: ${event.withheld.join(", ")}. <code>linkledger audit stream</code> on the server prints everything.</p>`}`)}`,
      };
    },
  });

  questionPage(app, deps, "/state", state, {
    find: "Compare",
    show(answer, { stream }) {
      if (!answer) return { nav: "Streams", title: `State of ${stream}`, above: placeOf(stream), body: "" };
      const { revision } = answer;
      return {
        nav: "Streams",
        title: `State of ${stream}`,
        heading: `State after revision ${revision}`,
        above: placeOf(stream),
        actions: html`<a class="button" href="${eventPath(stream, revision)}">Event</a>`,
        body: answer.has_state
          ? html`${changesCard(answer)}${card("State", jsonBlock(answer.state, "State"))}`
          : emptyCard(undefined, "No state", "The events of this stream are facts that add up to no state."),
      };
    },
  });
}

function placeOf(stream: string): Html {
  return html`<a href="/admin/streams">Streams</a> / <a class="break" href="${streamPath(stream)}">${stream}</a>`;
}

function metadata(event: ExplainedEvent, key: string | undefined): Html {
  const { stream, revision, correlation_id } = event;
  const account = ownerOf(event);
  return facts({
    Recorded: html`${time(event.recorded_at)} <code class="small">${event.recorded_at}</code>`,
    By: html`${actorLink(actorKey(event.actor))} ${key && html`<span class="muted">${key}</span>`}`,
    Account: account && shownMember("account", account),
    "Correlation id": html`<a href="${address("/admin/events", { correlation_id })}">${correlation_id}</a>`,
    "Causation id": event.causation_id,
    "Schema version": event.schema_version,
    Revision: html`${revision} of <a class="break" href="${streamPath(stream)}">${stream}</a>${hasState(stream) && html` · <a href="${statePath(stream, revision)}">State after this event</a>`}`,
    Position: positionLink(event.position, event.position),
    "Event id": copyable("event-id", event.id, "the event id"),
  });
}

/** What its owner calls the key; none when it is unknown. */
async function keyLabel({ readStore }: ConsoleDeps, { actor }: Pick<ExplainedEvent, "actor">) {
  if (actor.type !== "key") return undefined;
  const key = await readStore.get<KeyDocument>(keys.collection.name, actor.id);
  return key && `${key.label === "" ? "" : `“${key.label}”, `}ends in ${key.hint}`;
}

function changesCard({ changes, against, revision }: StreamState): Html {
  const [what, before] =
    against === -1
      ? ["the time before the first event", "Before"]
      : [`revision ${against}`, `Revision ${against}`];
  const columns: Columns<(typeof changes)[number]> = {
    What: ({ path }) => html`<code class="break">${path}</code>`,
    [before]: (change) => html`<span class="break">${shownValue(change.before)}</span>`,
    [`Revision ${revision}`]: ({ after }) => html`<span class="break">${shownValue(after)}</span>`,
  };
  return tableCard(`Difference to ${what}`, changes, columns, "No difference.");
}
