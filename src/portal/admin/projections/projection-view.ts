// How a projection is shown: its state, its builds, the progress of a build, the events that it has set aside.
import type { SetAside } from "../../../coordination/set-aside.ts";
import type { BuildingRow, BuildLabel, ConsoleRow } from "../../../queries/audit/projection-rows.ts";
import { count, counted } from "../../links/link-view.ts";
import { address } from "../../shell/address.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { duration, eventPath, shortPosition, streamPath } from "../view.ts";

const BADGES = {
  behind: "badge-warn",
  current: "badge-good",
} as const;

/** Lag below which a projection counts as up to date. */
const RECENT_MS = 10_000;

export function projectionPath(name: string, below = ""): string {
  return `/admin/projections/${encodeURIComponent(name)}${below}`;
}

export function stateBadge(row: ConsoleRow): Html {
  const { state, lag_ms, building } = row;
  if (state === "waiting") return html`<span class="badge badge-bad">Needs a newer program</span>`;
  if (building)
    return html`<span class="badge badge-accent">${isWaiting(row) ? "Waiting" : "Building"}</span>`;
  const shown = state === "behind" && lag_ms >= RECENT_MS ? "behind" : "current";
  return html`<span class="badge ${BADGES[shown]}">${shown.charAt(0).toUpperCase()}${shown.slice(1)}</span>`;
}

export function setAsideBadge({ count: events }: SetAside): Html | false {
  return events > 0 && html`<span class="badge badge-bad">${counted(events, "event")} set aside</span>`;
}

/** Each leads to the event. */
export function setAsideCard({ count: total, events }: SetAside, how: Html): Html | false {
  if (total === 0) return false;
  return html`<section class="card card-danger"><h2>${icon("alert")}${counted(total, "event")} set aside</h2>
<p class="muted">${how}</p>
<table class="table"><caption class="visually-hidden">Events set aside, in the order of the log</caption>
<thead><tr><th scope="col">Event</th><th scope="col">Stream</th><th scope="col">Position</th><th scope="col">Error</th></tr></thead>
<tbody>${events.map(
    ({ type, stream, revision, position, error }) =>
      html`<tr><td><a href="${eventPath(stream, revision)}"><strong>${type || "Unknown"}</strong></a> <span class="muted small">revision ${revision}</span></td>
<td data-label="Stream"><a class="break" href="${streamPath(stream)}">${stream}</a></td>
<td data-label="Position"><a class="code break" href="${address("/admin/log", { from: position })}">${shortPosition(position)}</a></td>
<td data-label="Error"><span class="break">${error}</span></td></tr>`,
  )}</tbody></table>${total > events.length && html`<p class="muted">And ${count(total - events.length)} more.</p>`}</section>`;
}

/** Complete, and told not to take over by itself. */
export function isWaiting({ building, activates }: ConsoleRow): boolean {
  return building !== null && building.done === 1 && !activates;
}

export function buildText(build: BuildLabel | null): string {
  if (build === null) return "none";
  const { version, build: number, rules, outdated } = build;
  const under =
    rules === null
      ? ""
      : `, clicks classified under rules ${rules}${outdated ? " (this program has others)" : ""}`;
  return `version ${version}, build ${number}${under}`;
}

export function lagText({ lag_ms }: ConsoleRow): string {
  return lag_ms === 0 ? "none" : duration(lag_ms);
}

/** `id`: unique on the page. */
export function progressBar(name: string, building: BuildingRow): Html {
  const percent = Math.floor(building.done * 100);
  const { events, events_per_second: rate, seconds_left: left } = building;
  const rest = left === null || building.done === 1 ? "" : `, about ${duration(left * 1_000)} left`;
  return html`<div class="meter"><div class="meter-head"><span>Build ${building.build}</span><span class="number">${percent} %</span></div>
<progress value="${percent}" max="100" aria-label="Build of ${name}">${percent} %</progress>
<p class="muted small">${count(events)} events, ${count(rate)}/s${rest}</p></div>`;
}
