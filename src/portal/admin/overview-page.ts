// GET /admin: what is wrong with the service, how projections and seals stand, and what the operator did last.
import type { Api } from "../../api/fastify.ts";
import type { Problem } from "../../api/operations/problems.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import { gapsBetween } from "../../queries/analytics/gaps.ts";
import { findEvents } from "../../queries/audit/find-events.ts";
import { listSeals } from "../../queries/audit/list-seals.ts";
import { projectionRows } from "../../queries/audit/projection-rows.ts";
import { count, counted } from "../links/link-view.ts";
import { field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { type Columns, card, time } from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import {
  badge,
  duration,
  eventsPath,
  rowsCard,
  STREAM_EVENT_COLUMNS,
  shortPosition,
  textLink,
} from "./answer-cells.ts";
import { sendConsolePage } from "./question-page.ts";
import { problemBadge, verdictBadge } from "./seals-page.ts";

const LOOK_AGAIN_MS = 10_000;
const LAST_GAPS = 10;
const LAST_ACTS = 10;
/** Among which they are looked for: an import makes many events of one act. */
const EVENTS_OF_ACTS = 200;

export function overviewPage(app: Api, deps: ConsoleDeps): void {
  app.get("/", async (_request, reply) => {
    const [problems, { projections }, { seals }, run, { events }, gaps] = await Promise.all([
      deps.problems("operator"),
      projectionRows(deps),
      listSeals(deps, { limit: 1 }),
      deps.verifications.read(),
      findEvents(deps, { actor: "operator" }, { limit: EVENTS_OF_ACTS }),
      gapsBetween(deps.readStore, 0, Number.POSITIVE_INFINITY),
    ]);
    const [seal] = seals;
    const sealed = seal
      ? html`${problemBadge(seal.problem)} Seal ${seal.number}${seal.at && html`, ${time(seal.at)}`}`
      : "None yet.";
    const verified = run?.result
      ? html`${verdictBadge(run.result)} Checked ${time(run.updated_at)}.`
      : "Not verified from here yet.";
    const lag = Math.max(0, ...projections.map(({ lag_ms }) => lag_ms));
    const folded = `${counted(projections.length, "projection")}, ${lag === 0 ? "all up to date" : `the slowest ${duration(lag)} behind`}.`;
    const lost = gaps.reverse().slice(0, LAST_GAPS);
    const acts = actsOf(events).slice(0, LAST_ACTS);
    const all = html`<p>${textLink(eventsPath({ actor: "operator" }), "All that the operator did")}</p>`;
    return sendConsolePage(reply, {
      nav: "Overview",
      title: "Console",
      lead: "The log of this service, and what is computed from it.",
      isLive: true,
      cards: [
        whatIsWrong(problems),
        LINK_FORM,
        html`<div class="grid">${card("Projections", html`<p>${folded}</p><p><a href="/admin/projections">All projections</a></p>`)}
${card("Seals", html`<p>${sealed}</p><p>${verified}</p><p><a href="/admin/seals">All seals</a></p>`)}</div>`,
        lost.length > 0 && html`<div id="gaps"></div>`,
        rowsCard("Clicks that were not recorded, newest first", GAPS, lost),
        rowsCard("What the operator did, newest first", ACTS, acts, "Nothing yet.", all),
      ],
    });
  });
}

const LEVELS = {
  unready: ["bad", "Not ready"],
  degraded: ["warn", "Disturbed"],
  notice: ["accent", "Notice"],
} as const;

/** One line where nothing is wrong. `data-live`: live.js looks again. */
function whatIsWrong(problems: readonly Problem[]): Html {
  const live = html`id="problems" data-live data-busy="${LOOK_AGAIN_MS}"`;
  if (problems.length === 0)
    return html`<p ${live} class="notice notice-done" role="status">${icon("check")}Nothing is wrong.</p>`;
  const rows = problems.map(({ level, part, reason, at }) => {
    const [tone, word] = LEVELS[level];
    const way = at !== undefined && html` <a class="nowrap" href="${at}">Look at it</a>`;
    return html`<li>${badge(tone, word)} <strong>${part}</strong> <span class="break">${shortPosition(reason)}</span>${way}</li>`;
  });
  const kind = problems[0]?.level !== "notice" && " card-danger";
  return html`<section ${live} class="card${kind}"><h2>What is wrong</h2><ul class="stack">${rows}</ul></section>`;
}

/** A short URL as it was reported can be pasted: the page that explains the link also blocks it. */
const LINK_FORM = html`<form method="get" action="/admin/explain" class="form-row" role="search">
${field({ label: "Explain or block a link", name: "link", required: true, maxlength: 500, autocomplete: "off", isExact: true, placeholder: "Its short URL, host/slug or slug" })}
<button class="button">Explain</button></form>`;

/** While nothing could store them, and memory had no room. */
const GAPS: Columns<ClickGap> = {
  From: ({ from }) => time(from),
  Until: ({ until }) => time(until),
  Hits: "hits",
};

type ListedEvent = Awaited<ReturnType<typeof findEvents>>["events"][number];
type Act = ListedEvent & { events: number };

const ACTS: Columns<Act> = {
  ...STREAM_EVENT_COLUMNS,
  Events: ({ events, correlation_id, type }) =>
    events === 1 ? "1" : textLink(eventsPath({ correlation_id, type }), count(events)),
};

/** The newest event of each type that a command appended, with how many there are: the links that an import made are one row. */
function actsOf(events: readonly ListedEvent[]): Act[] {
  const acts = Map.groupBy(events, ({ correlation_id, type }) => `${type} ${correlation_id}`);
  return [...acts.values()].map((ofAct) => ({ ...(ofAct[0] as ListedEvent), events: ofAct.length }));
}
