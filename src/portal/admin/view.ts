// What pages of the console share: addresses, tables of events, badges, JSON.
import type { Verdict } from "../../audit/verdict.ts";
import { actorKey } from "../../projections/definitions/event-index.ts";
import type { AuditedEvent } from "../../queries/audit/audited-event.ts";
import type { IndexedEvent } from "../../queries/audit/find-events.ts";
import { address } from "../shell/address.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";

export const CONSOLE_STYLES = ["charts.css", "console.css"] as const;

type ShownEvent = Pick<IndexedEvent, "stream" | "revision" | "type" | "actor" | "recorded_at" | "position">;

export function streamPath(name: string): string {
  return address("/admin/stream", { name });
}

export function eventPath(stream: string, revision: number): string {
  return address("/admin/event", { stream, revision });
}

export function statePath(stream: string, revision?: number): string {
  return address("/admin/state", { stream, revision });
}

export function shown({ actor, ...event }: AuditedEvent): ShownEvent {
  return { ...event, actor: actorKey(actor) };
}

/** `caption`: for screen readers; `withStream`: unless all are of one stream. */
export function eventTable(events: readonly ShownEvent[], caption: string, { withStream = true } = {}): Html {
  return html`<table class="table"><caption class="visually-hidden">${caption}</caption>
<thead><tr><th scope="col">Event</th>${withStream && html`<th scope="col">Stream</th>`}<th scope="col">By</th><th scope="col">Recorded</th><th scope="col">Position</th></tr></thead>
<tbody>${events.map(
    ({ stream, revision, type, actor, recorded_at, position }) =>
      html`<tr><td><a href="${eventPath(stream, revision)}"><strong>${type || "Unreadable event"}</strong></a> <span class="muted small">revision ${revision}</span></td>
${withStream && html`<td data-label="Stream"><a class="break" href="${streamPath(stream)}">${stream}</a></td>`}
<td data-label="By">${actorLink(actor)}</td>
<td data-label="Recorded" class="nowrap">${time(recorded_at)}</td>
<td data-label="Position"><a class="code break" href="${address("/admin/log", { from: position })}">${shortPosition(position)}</a></td></tr>`,
  )}</tbody></table>`;
}

/** Leads to what this actor did. */
export function actorLink(actor: string): Html {
  return html`<a class="break" href="${address("/admin/events", { actor })}">${actor.replace(":", " ")}</a>`;
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  proved: "Proved: no changes found",
  problem: "Not proved",
  unsealed: "Nothing is proved yet",
};

/** The verdict of a verification in a few words; its sentence says more. */
export function verdictBadge({ verdict }: { verdict: Verdict }): Html {
  const tone = { proved: "good", problem: "bad", unsealed: "warn" }[verdict];
  return html`<span class="badge badge-${tone}">${VERDICTS[verdict]}</span>`;
}

/** Without the zeros that positions are padded with. */
export function shortPosition(position: string): string {
  return position
    .split(":")
    .map((part) => part.replace(/^0+(?=\d)/, ""))
    .join(":");
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

export function empty(title: string, text: string): Html {
  return html`<section class="card empty"><h2>${title}</h2><p>${text}</p></section>`;
}

/** `next`: the address of the next page; none at the end. */
export function nextPage(next: string | undefined, label: string): Html | false {
  return (
    next !== undefined &&
    html`<nav class="actions" aria-label="Pages"><a class="button" rel="next" href="${next}">${label}</a></nav>`
  );
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
