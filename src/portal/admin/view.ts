// What pages of the console share: addresses, how a member of an answer is shown, tables of rows, badges, JSON.

import { actorKey } from "../../projections/definitions/event-index.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import { count } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { type Columns, card, emptyCard, table, time } from "../shell/parts.ts";

export function accountPath(accountId: string): string {
  return `/admin/accounts/${encodeURIComponent(accountId)}`;
}

export function streamPath(name: string): string {
  return address("/admin/stream", { name });
}

export function eventPath(stream: string, revision: number): string {
  return address("/admin/event", { stream, revision });
}

export function statePath(stream: string, revision?: number): string {
  return address("/admin/state", { stream, revision });
}

export function projectionPath(name: string, below = ""): string {
  return `/admin/projections/${encodeURIComponent(name)}${below}`;
}

/** What may be long breaks anywhere. */
export function textLink(path: string, text: HtmlValue): Html {
  return html`<a class="break" href="${path}">${text}</a>`;
}

/** Numbers stand at the end of their line. */
export function rowTable<Row extends object>(
  caption: string,
  rows: readonly Row[],
  columns: Columns<NoInfer<Row>>,
): Html {
  return table(caption, columns, rows, shownMember);
}

/** A card of its rows, under their name; `none`: what is said where there are none, with a title or below this one. */
export function tableCard<Row extends object>(
  title: string,
  rows: readonly Row[],
  columns: Columns<NoInfer<Row>>,
  none?: string | readonly [title: string, text: string],
): Html {
  if (rows.length > 0 || none === undefined) return card(title, rowTable(title, rows, columns));
  return typeof none === "string" ? card(title, undefined, { lead: none }) : emptyCard(undefined, ...none);
}

/** A member of an answer: what has a page leads there. */
export function shownMember(name: string, value: unknown): HtmlValue {
  if (value === null || value === undefined) return html`<span class="muted">none</span>`;
  if (typeof value === "number") return html`<span class="number">${count(value)}</span>`;
  const text = String(value);
  switch (name) {
    case "stream":
      return html`<a class="break" href="${streamPath(text)}"><strong>${text}</strong></a>`;
    case "account":
      return textLink(accountPath(text), text);
    case "actor":
      return actorLink(value as Actor | string);
    case "position":
      return positionLink(text);
    default:
      return /_at$|^at$/.test(name)
        ? html`<span class="nowrap">${time(text)}</span>`
        : html`<span class="break">${text}</span>`;
  }
}

type ShownEvent = {
  type: string;
  stream: string;
  revision: number;
  actor: Actor | string;
  recorded_at: string;
  position: string;
};

const BEHIND_EVENT = { By: "actor", Recorded: "recorded_at", Position: "position" } as const;
export const EVENT_COLUMNS: Columns<ShownEvent> = { Event: eventLink, ...BEHIND_EVENT };
export const STREAM_EVENT_COLUMNS: Columns<ShownEvent> = {
  Event: eventLink,
  Stream: ({ stream }) => textLink(streamPath(stream), stream),
  ...BEHIND_EVENT,
};

export function eventLink({
  type,
  stream,
  revision,
}: Pick<ShownEvent, "type" | "stream" | "revision">): Html {
  return html`<a href="${eventPath(stream, revision)}"><strong>${type || "Unreadable event"}</strong></a> <span class="muted small">revision ${revision}</span>`;
}

/** Leads to what this actor did. */
export function actorLink(given: Actor | string): Html {
  const actor = typeof given === "string" ? given : actorKey(given);
  return textLink(address("/admin/events", { actor }), actor.replace(":", " "));
}

/** Leads to the log from there on. */
export function positionLink(position: string, text = shortPosition(position)): Html {
  return html`<a class="code break" href="${address("/admin/log", { from: position })}">${text}</a>`;
}

/** Without the zeros that positions are padded with. */
export function shortPosition(position: string): string {
  return position
    .split(":")
    .map((part) => part.replace(/^0+(?=\d)/, ""))
    .join(":");
}

export function badge(tone: "good" | "bad" | "warn" | "accent", words: HtmlValue): Html {
  return html`<span class="badge badge-${tone}">${words}</span>`;
}

export function jsonBlock(value: unknown, label: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code>${JSON.stringify(value, null, 2)}</code></pre>`;
}

/** One value of a field or a state. */
export function shownValue(value: unknown): HtmlValue {
  if (value === null || value === undefined) return html`<span class="muted">nothing</span>`;
  if (typeof value === "string") return value === "" ? html`<span class="muted">empty</span>` : value;
  return html`<code>${JSON.stringify(value)}</code>`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
