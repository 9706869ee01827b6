// GET /admin/event: one event, its fields explained, its metadata, and as JSON. GET /admin/state: what a stream's events
// come to as of a revision, and the difference to an earlier one.
import type { Api } from "../../api/fastify.ts";
import { type KeyDocument, keys } from "../../projections/definitions/keys.ts";
import type { ExplainedEvent } from "../../queries/audit/audited-event.ts";
import { questions } from "../../queries/audit/questions.ts";
import { hasState } from "../../queries/audit/stream-state.ts";
import { ownerOf } from "../../queries/feed/account-events.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { badge, type Columns, copyable, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import {
  accountPath,
  actorLink,
  eventPath,
  eventsPath,
  positionLink,
  rowsCard,
  statePath,
  streamPath,
  textLink,
} from "./answer-cells.ts";
import { questionPage } from "./question-page.ts";

export function eventPages(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/event", questions.event, {
    nav: "Streams",
    async show(answer, { stream, revision }) {
      const event = answer as ExplainedEvent;
      const [later] = await deps.eventStore.read(stream, { from: revision + 1, limit: 1 });
      const { summary, fields, ...raw } = event;
      const { error, withheld } = raw;
      const heading = raw.type || "Unreadable event";
      return {
        title: `${heading}, revision ${revision}`,
        heading,
        above: placeOf(stream),
        lead:
          error === null
            ? summary
            : html`${badge("bad", "Can't be read")} <span class="break">${error}</span>`,
        actions: html`${revision > 0 && html`<a class="button" rel="prev" href="${eventPath(stream, revision - 1)}">Earlier event</a>`}
${later && html`<a class="button" rel="next" href="${eventPath(stream, revision + 1)}">Later event</a>`}`,
        cards: [
          rowsCard("Fields", FIELDS, fields, "None."),
          { title: "Metadata", facts: metadata(event, await keyLabel(deps, event)) },
          {
            title: "As JSON",
            body: html`${jsonBlock(raw, "The event as JSON")}${withheld.length > 0 && html`<p class="muted small">Withheld: ${withheld.join(", ")}. <code>linkledger audit stream</code> on the server prints everything.</p>`}`,
          },
        ],
      };
    },
  });

  questionPage(app, deps, "/state", questions.state, {
    nav: "Streams",
    find: "Compare",
    show(answer, { stream }) {
      const page = { title: `State of ${stream}`, above: placeOf(stream) };
      if (!answer) return { ...page, cards: [] };
      const { revision, against, changes, state, has_state } = answer;
      const [what, before] =
        against === -1
          ? ["the time before the first event", "Before"]
          : [`revision ${against}`, `Revision ${against}`];
      const columns: Columns<(typeof changes)[number]> = {
        What: ({ path }) => html`<code class="break">${path}</code>`,
        [before]: (change) => html`<span class="break">${shownValue(change.before)}</span>`,
        [`Revision ${revision}`]: ({ after }) => html`<span class="break">${shownValue(after)}</span>`,
      };
      return {
        ...page,
        heading: `State after revision ${revision}`,
        actions: html`<a class="button" href="${eventPath(stream, revision)}">Event</a>`,
        cards: [
          has_state && rowsCard(`Difference to ${what}`, columns, changes, "No difference."),
          has_state ? { title: "State", body: jsonBlock(state, "State") } : NO_STATE,
        ],
      };
    },
  });
}

const NO_STATE = { title: "No state", lead: "The events of this stream are facts that add up to no state." };

const FIELDS: Columns<ExplainedEvent["fields"][number]> = {
  Field: ({ name }) => html`<code>${name}</code>`,
  Value: ({ value }) => html`<span class="break">${shownValue(value)}</span>`,
  "What it is": ({ about }) => html`<span class="muted">${about}</span>`,
};

function placeOf(stream: string): Html {
  return html`<a href="/admin/streams">Streams</a> / ${textLink(streamPath(stream), stream)}`;
}

function metadata(event: ExplainedEvent, key: string | undefined) {
  const { stream, revision, correlation_id } = event;
  const account = ownerOf(event);
  return {
    Recorded: html`${time(event.recorded_at)} <code class="small">${event.recorded_at}</code>`,
    By: html`${actorLink(event)} ${key && html`<span class="muted">${key}</span>`}`,
    Account: account && textLink(accountPath(account), account),
    "Correlation id": html`<a href="${eventsPath({ correlation_id })}">${correlation_id}</a>`,
    "Causation id": event.causation_id,
    "Schema version": event.schema_version,
    Revision: html`${revision} of ${textLink(streamPath(stream), stream)}${hasState(stream) && html` · <a href="${statePath(stream, revision)}">State after this event</a>`}`,
    Position: positionLink(event.position, event.position),
    "Event id": copyable("event-id", event.id, "the event id"),
  };
}

/** What its owner calls the key; none when it is unknown. */
async function keyLabel({ readStore }: ConsoleDeps, { actor }: Pick<ExplainedEvent, "actor">) {
  if (actor.type !== "key") return undefined;
  const key = await readStore.get<KeyDocument>(keys.collection.name, actor.id);
  return key && `${key.label === "" ? "" : `“${key.label}”, `}ends in ${key.hint}`;
}

function jsonBlock(value: unknown, label: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code>${JSON.stringify(value, null, 2)}</code></pre>`;
}

function shownValue(value: unknown): HtmlValue {
  if (value === null || value === undefined) return html`<span class="muted">nothing</span>`;
  if (typeof value === "string") return value === "" ? html`<span class="muted">empty</span>` : value;
  return html`<code>${JSON.stringify(value)}</code>`;
}
