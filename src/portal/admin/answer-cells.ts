// How pages of the console show what an answer holds, each with the way to its page: accounts, streams, events, positions.
import { actorKey } from "../../projections/definitions/event-index.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import { address } from "../shell/address.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { type Columns, shownMember, tableCard } from "../shell/layout.ts";

export const accountPath = (accountId: string) => `/admin/accounts/${encodeURIComponent(accountId)}`;
export const streamPath = (name: string) => address("/admin/stream", { name });
export const eventPath = (stream: string, revision: number) => address("/admin/event", { stream, revision });
export const statePath = (stream: string, revision?: number) => address("/admin/state", { stream, revision });
export const eventsPath = (filter: Record<string, string | undefined>) => address("/admin/events", filter);
export const projectionPath = (name: string, below = "") =>
  `/admin/projections/${encodeURIComponent(name)}${below}`;

/** What may be long breaks anywhere. */
export function textLink(path: string, text: HtmlValue): Html {
  return html`<a class="break" href="${path}">${text}</a>`;
}

/** Of an answer: what has a page leads there. */
function linkedMember(name: string, value: unknown): HtmlValue {
  if (value === null || value === undefined) return shownMember(name, value);
  if (name === "stream") return textLink(streamPath(String(value)), html`<strong>${String(value)}</strong>`);
  if (name === "account") return textLink(accountPath(String(value)), String(value));
  return name === "position" ? positionLink(String(value)) : shownMember(name, value);
}

/** A card of the rows of an answer. `none`: what is said where there are none; without it there is no card then. */
export function rowsCard<Row>(
  title: string,
  columns: Columns<NoInfer<Row>>,
  rows: readonly Row[],
  none?: string,
  below?: HtmlValue,
) {
  return tableCard<Row>(title, columns, rows, { member: linkedMember, below, ...(none && { none }) });
}

type ShownEvent = {
  type: string;
  stream: string;
  revision: number;
  actor: Actor | string;
  actor_name: string | null;
  recorded_at: string;
  position: string;
};

const BEHIND_EVENT = { By: actorLink, Recorded: "recorded_at", Position: "position" } as const;
/** Of one stream. */
export const EVENT_COLUMNS: Columns<ShownEvent> = { Event: eventLink, ...BEHIND_EVENT };
export const STREAM_EVENT_COLUMNS: Columns<ShownEvent> = {
  Event: eventLink,
  Stream: ({ stream }) => textLink(streamPath(stream), stream),
  ...BEHIND_EVENT,
};

export function eventLink(event: Pick<ShownEvent, "type" | "stream" | "revision">): Html {
  const { type, stream, revision } = event;
  return html`<a href="${eventPath(stream, revision)}"><strong class="nowrap">${type || "Unreadable event"}</strong></a> <span class="muted small">revision ${revision}</span>`;
}

/** Leads to what this actor did. */
export function actorLink({ actor: by, actor_name }: Pick<ShownEvent, "actor" | "actor_name">): Html {
  const actor = typeof by === "string" ? by : actorKey(by);
  const [type, id = ""] = actor.split(":");
  return textLink(eventsPath({ actor }), `${type} ${actor_name ?? id}`);
}

/** Leads to the log from there on. */
export function positionLink(position: string, text = shortPosition(position)): Html {
  return html`<a class="code break" href="${address("/admin/log", { from: position })}">${text}</a>`;
}

/** Without the zeros that positions are padded with, wherever a text has one. */
export function shortPosition(text: string): string {
  return text.replace(/\b0{4,}(?=\d)/g, "");
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
