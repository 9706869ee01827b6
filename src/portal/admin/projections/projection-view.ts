// How a projection is shown: its state, its builds, the progress of a build.
import type { BuildingRow, BuildLabel, ConsoleRow } from "../../../queries/audit/projection-rows.ts";
import { count } from "../../links/link-view.ts";
import { type Html, html } from "../../shell/html.ts";
import { duration } from "../view.ts";

const BADGES = {
  faulted: "badge-bad",
  building: "badge-accent",
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
  if (building && state !== "faulted")
    return html`<span class="badge badge-accent">${isWaiting(row) ? "Waiting" : "Building"}</span>`;
  const isCurrent = state === "behind" && lag_ms < RECENT_MS;
  const shown = isCurrent ? "current" : state;
  return html`<span class="badge ${BADGES[shown]}">${shown.charAt(0).toUpperCase()}${shown.slice(1)}</span>`;
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
