// Everything about one link as a page shows it, for its owner and in the console alike.
import type { ClickKind } from "../../events/vocabulary.ts";
import type { ExplainedStep, LinkExplanation } from "../../queries/audit/explain-link.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { count, counted, outward } from "./link-view.ts";

/** What the console adds, and an owner has no page for. */
type ExplanationLinks = {
  owner?: (found: LinkExplanation) => HtmlValue;
  event?: (stream: string, revision: number) => string;
  clicks?: (link: string) => string;
};

const MOST_SHOWN = 200;
const MOST_SEALS = 20;
const TONES = { proved: "good", sealed: "good", unsealed: "warn", problem: "bad" } as const;
const VERDICTS = {
  proved: "Proved",
  sealed: "Nothing wrong seen",
  unsealed: "Not sealed yet",
  problem: "Not as it should be",
} as const;

export function explanation(found: LinkExplanation, links: ExplanationLinks = {}): Html {
  return html`<section class="card stack"><h2>In one sentence</h2>
<p role="status"><span class="badge badge-${TONES[found.verdict]}">${VERDICTS[found.verdict]}</span></p><p class="break">${found.sentence}</p>
${found.problems.length > 0 && html`<ul class="stack">${found.problems.map((one) => html`<li class="break">${one}</li>`)}</ul>`}</section>
<div class="grid">${facts(found, links)}${hits(found, links)}</div>
${history(found, links)}
${withdrawals(found)}`;
}

function facts(found: LinkExplanation, { owner }: ExplanationLinks): Html {
  const { destination, state, created_at: at, created_by: by, seals } = found;
  const { numbers, sealed, unsealed } = seals;
  const named = numbers.slice(0, MOST_SEALS).join(", ");
  return html`<section class="card"><h2>The link</h2><dl class="facts">
<dt>Destination</dt><dd>${destination === null ? "unknown" : outward(destination)}</dd>
<dt>State</dt><dd>${state}</dd>
<dt>Made</dt><dd>${at === null ? "unknown" : time(at)}${by !== null && html` by ${by}`}</dd>
${owner && html`<dt>Owner</dt><dd>${owner(found)}</dd>`}
<dt>Seals</dt><dd>${numbers.length === 0 ? "none yet" : html`${counted(sealed, "event")} under ${counted(numbers.length, "seal")}: ${named}${numbers.length > MOST_SEALS && " and more"}`}${unsealed > 0 && html`; ${counted(unsealed, "event")} under none yet`}</dd></dl></section>`;
}

export function hitFacts({ click, preview, qr_scan }: Record<ClickKind, number>): Html {
  return html`<dt>Clicks</dt><dd>${count(click + qr_scan)}, ${count(qr_scan)} of them QR scans</dd><dt>Previews</dt><dd>${count(preview)}</dd>`;
}

function hits({ link, clicks }: LinkExplanation, { clicks: pathOf }: ExplanationLinks): Html {
  const { total, first_at, last_at } = clicks;
  return html`<section class="card"><h2>Hits</h2><dl class="facts">
${hitFacts(clicks)}<dt>In all</dt><dd>${count(total)}</dd>
${first_at !== null && last_at !== null && html`<dt>First</dt><dd>${time(first_at)}</dd><dt>Last</dt><dd>${time(last_at)}</dd>`}</dl>
${pathOf && html`<p><a href="${pathOf(link)}">Each in the log</a></p>`}</section>`;
}

function history({ history: steps }: LinkExplanation, { event }: ExplanationLinks): Html {
  const shown = steps.slice(-MOST_SHOWN).reverse();
  const title = ({ type, stream, revision }: ExplainedStep) => {
    const name = html`<strong>${type || "Unreadable event"}</strong>`;
    return event ? html`<a href="${event(stream, revision)}">${name}</a>` : name;
  };
  return html`<section class="card"><h2>What happened to it</h2><table class="table"><caption class="visually-hidden">Events, newest first</caption>
<thead><tr><th scope="col">Event</th><th scope="col">By</th><th scope="col">Recorded</th><th scope="col">What it says</th></tr></thead>
<tbody>${shown.map(
    (step) =>
      html`<tr><td class="nowrap">${title(step)}</td><td data-label="By">${step.by}</td><td data-label="Recorded">${time(step.recorded_at)}</td><td data-label="What it says"><span class="break">${said(step)}</span></td></tr>`,
  )}</tbody></table>${steps.length > shown.length && html`<p class="muted small">The last ${MOST_SHOWN} of ${steps.length} events.</p>`}</section>`;
}

function said({ detail, error }: ExplainedStep): HtmlValue {
  if (error !== null) return "It can't be read.";
  const parts = Object.entries(detail).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return parts.length === 0 ? html`<span class="muted">nothing more</span>` : parts.join(" · ");
}

function withdrawals({ withdrawals: made }: LinkExplanation): Html | false {
  if (made.length === 0) return false;
  return html`<section class="card"><h2>Withdrawn hits</h2><table class="table"><caption class="visually-hidden">Withdrawals, newest first</caption>
<thead><tr><th scope="col">Made</th><th scope="col" class="end">Hits</th><th scope="col">Reason</th><th scope="col">State</th></tr></thead>
<tbody>${made
    .toReversed()
    .map(
      ({ at, clicks, reason, restored_at }) =>
        html`<tr><td>${time(at)}</td><td data-label="Hits" class="end number">${count(clicks)}</td><td data-label="Reason"><span class="break">${reason}</span></td><td data-label="State">${restored_at === null ? "in force" : html`taken back ${time(restored_at)}`}</td></tr>`,
    )}</tbody></table></section>`;
}
