// GET /admin/projections: all projections with their builds, lag and speed, and the events that were set aside.
// GET /admin/projections/:name: one of them, with what the operator can do.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { Refused } from "../../commands/refusals.ts";
import {
  type BuildingRow,
  type BuildLabel,
  type ProjectionRow,
  projectionRows,
} from "../../queries/audit/projection-rows.ts";
import { questions } from "../../queries/audit/questions.ts";
import type { SetAside } from "../../stores/coordination/set-aside.ts";
import { count, counted } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { badge, type Card, type Columns, confirmedPost, facts, postButton, table } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import {
  duration,
  eventLink,
  positionLink,
  projectionPath,
  rowsCard,
  shortPosition,
  streamPath,
  textLink,
} from "./answer-cells.ts";
import { questionPage, sendConsolePage } from "./question-page.ts";

/** Lag below which a projection counts as up to date. */
const RECENT_MS = 10_000;

export function projectionPages(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/projections", questions.projections, {
    nav: "Projections",
    isLive: true,
    show: (answer) => ({
      lead: html`What is answered is computed from the log${answer?.head && html`, which ends at position ${shortPosition(answer.head)}`}. An event that can't be taken in is set aside, and all others count.`,
      cards: [
        html`<section class="card" id="projections" data-live data-busy>${table("Projections", COLUMNS, answer?.projections ?? [])}</section>`,
        answer && setAsideCard(answer.webhook_router.set_aside, NOT_DELIVERED),
      ],
    }),
  });

  const params = z.object({ name: z.string().max(100) });
  app.get("/projections/:name", { schema: { params } }, async ({ params: { name } }, reply) => {
    const { projections } = await projectionRows(deps);
    const row = projections.find((projection) => projection.name === name);
    if (!row) throw new Refused("unknown_projection", `There are no projections ${name}`);
    const { building, active, waits_for: waitsFor } = row;
    // Something is about to change by itself.
    const isBusy = building !== null || row.state === "behind";
    const state = facts({
      "Answers from": buildText(active),
      "Previous build": buildText(row.previous),
      "Version of the program": row.version,
      Position: positionText(row),
      Lag: lagText(row),
    });
    return sendConsolePage(reply, {
      nav: "Projections",
      title: name,
      isLive: true,
      above: html`<a href="/admin/projections">Projections</a>`,
      cards: [
        waitsFor !== null && waitCard(waitsFor),
        setAsideCard(row.set_aside, NOT_FOLDED),
        html`<section class="card stack" id="status" data-live ${isBusy && html`data-busy`}><h2>State ${stateBadge(row)}</h2>
${state}
${building && html`<div role="status">${progressBar(name, building)}${building.because && html`<p>Nothing is answered until it has caught up: ${building.because}.</p>`}</div>`}</section>`,
        html`<section class="card" id="acts" data-live><h2>What you can do</h2>${active?.rules && AS_RECORDED}<div class="actions">${buttons(row)}</div></section>`,
      ],
    });
  });
}

const NOT_DELIVERED =
  "The router of webhooks has passed them: what depends on them was not delivered. Once they can be read, it is at the next start.";
const NOT_FOLDED =
  "They are in none of its documents; everything else is. Once they can be read, or a program is started that understands them, a rebuild counts them in.";
const AS_RECORDED = html`<p class="muted">A rebuild counts clicks as they were recorded, not by these rules: <code>linkledger projections reclassify</code> classifies them again.</p>`;

const COLUMNS: Columns<ProjectionRow> = {
  Projections: ({ name, contains }) =>
    html`<a href="${projectionPath(name)}"><strong>${name}</strong></a> <span class="muted small">${contains.join(", ")}</span>`,
  State: (row) =>
    html`${stateBadge(row)} ${row.set_aside.count > 0 && badge("bad", `${counted(row.set_aside.count, "event")} set aside`)}${row.building && progressBar(row.name, row.building)}`,
  "Answers from": ({ active }) => html`<span class="small">${buildText(active)}</span>`,
  Position: (row) => html`<span class="break number">${positionText(row)}</span>`,
  Lag: (row) => html`<span class="nowrap">${lagText(row)}</span>`,
};

function stateBadge(row: ProjectionRow): Html {
  if (row.state === "waiting") return badge("bad", "Needs a newer program");
  if (row.building) return badge("accent", row.building.is_rollback ? "Rolling back" : "Building");
  if (row.state === "other_log") return badge("bad", "Of another log");
  const isBehind = row.state === "behind" && row.lag_ms >= RECENT_MS;
  return isBehind ? badge("warn", "Behind") : badge("good", "Current");
}

const SET_ASIDE = { Event: eventLink, Stream: "stream", Position: "position", Error: "error" } as const;

/** Each leads to the event. */
export function setAsideCard({ count: total, events }: SetAside, lead: string): Card | undefined {
  if (total === 0) return undefined;
  const title = html`${icon("alert")} ${counted(total, "event")} set aside`;
  const below = total > events.length && html`<p class="muted">And ${count(total - events.length)} more.</p>`;
  const listed = rowsCard("Events set aside, in the order of the log", SET_ASIDE, events, "None.", below);
  return { ...(listed as Card), title, lead, kind: "danger" };
}

function buildText(build: BuildLabel | null): string {
  if (build === null) return "none";
  const { version, build: number, rules, outdated } = build;
  const under = rules && `, clicks classified under rules ${rules}`;
  return `version ${version}, build ${number}${under ?? ""}${outdated ? " (this program has others)" : ""}`;
}

const lagText = ({ lag_ms }: ProjectionRow) => (lag_ms === 0 ? "none" : duration(lag_ms));
const positionText = ({ position }: ProjectionRow) =>
  position === null ? "the beginning" : shortPosition(position);

function progressBar(name: string, building: BuildingRow): Html {
  const percent = Math.floor(building.done * 100);
  const { events, events_per_second: rate, seconds_left: left } = building;
  const rest = left === null || building.done === 1 ? "" : `, about ${duration(left * 1_000)} left`;
  return html`<div class="meter"><div class="meter-head"><span>Build ${building.build}</span><span class="number">${percent} %</span></div>
<progress value="${percent}" max="100" aria-label="Build of ${name}">${percent} %</progress>
<p class="muted small">${count(events)} events, ${count(rate)}/s${rest}</p></div>`;
}

function buttons(row: ProjectionRow): Html {
  const { building, active, previous, name } = row;
  const path = (act: string) => projectionPath(name, `/${act}`);
  const dropped = `What build ${building?.build} of ${name} has computed is dropped. What answers now goes on.`;
  const back = `${buildText(previous)} takes in what it lacks, then queries are answered from it again, and this one is kept.`;
  return html`${building === null && postButton(path("rebuild"), "Rebuild", { kind: "primary" })}
${building && active && confirmedPost("Cancel the build", dropped, path("cancel"), "Cancel it")}
${previous && !building && confirmedPost("Roll back", back, path("rollback"), "Roll back")}`;
}

function waitCard({ stream, type, position }: NonNullable<ProjectionRow["waits_for"]>): Card {
  return {
    title: html`${icon("alert")} Waits for a newer program`,
    lead: "A newer program has written it: one that is started goes on from here.",
    kind: "danger",
    facts: {
      Event: html`${type} at position ${positionLink(position)}`,
      Stream: textLink(streamPath(stream), stream),
    },
  };
}
