// GET /admin: what is wrong with the service, how projections and seals stand, and what the operator did last.
import type { Api } from "../../api/fastify.ts";
import type { Problem } from "../../api/operations/problems.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import { gapsBetween } from "../../queries/analytics/gaps.ts";
import { findEvents } from "../../queries/audit/find-events.ts";
import { listSeals } from "../../queries/audit/list-seals.ts";
import { type ProjectionRows, projectionRows } from "../../queries/audit/projection-rows.ts";
import { withActorNames } from "../../queries/people.ts";
import { inTime } from "../../runtime/pause.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import { count, counted } from "../links/link-view.ts";
import { form } from "../shell/controls.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { badge, type Columns, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import {
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
const LONGEST_LOOK_MS = 2_000;
const LAST_GAPS = 10;
const LAST_ACTS = 10;
/** Among which they are looked for: an import makes many events of one act. */
const EVENTS_OF_ACTS = 200;

export function overviewPage(app: Api, deps: ConsoleDeps): void {
  app.get("/", async (_request, reply) => {
    const [problems, rows, sealed, run, did, gaps = []] = await Promise.all([
      deps.problems("operator"),
      ifTold(projectionRows(deps)),
      ifTold(listSeals(deps, { limit: 1 })),
      ifTold(deps.verifications.read()),
      ifTold(findEvents(deps, { actor: "operator" }, { limit: EVENTS_OF_ACTS })),
      ifTold(gapsBetween(deps.readStore, 0, Number.POSITIVE_INFINITY)),
    ]);
    const verified = run?.result
      ? html`${verdictBadge(run.result)} Checked ${time(run.updated_at)}.`
      : "Not verified from here yet.";
    const lost = gaps.reverse().slice(0, LAST_GAPS);
    const acts = await withActorNames(deps, actsOf(did?.events ?? []).slice(0, LAST_ACTS));
    const all = html`<p>${textLink(eventsPath({ actor: "operator" }), "All that the operator did")}</p>`;
    return sendConsolePage(reply, {
      nav: "Overview",
      title: "Console",
      lead: "The log of this service, and what is computed from it.",
      isLive: true,
      cards: [
        whatIsWrong(problems),
        LINK_FORM,
        [
          {
            title: "Projections",
            body: html`<p>${rows ? foldedText(rows) : NOT_TOLD}</p><p><a href="/admin/projections">All projections</a></p>`,
          },
          {
            title: "Seals",
            body: html`<p>${sealed ? sealText(sealed) : NOT_TOLD}</p><p>${verified}</p><p><a href="/admin/seals">All seals</a></p>`,
          },
        ],
        lost.length > 0 && html`<div id="gaps"></div>`,
        rowsCard("Clicks that were not recorded, newest first", GAPS, lost),
        rowsCard("What the operator did, newest first", ACTS, acts, did ? "Nothing yet." : NOT_TOLD, all),
      ],
    });
  });
}

const NOT_TOLD = "Not known just now.";

/** Undefined where a store doesn't answer soon, or has nothing complete yet: the head of the page says why. */
async function ifTold<T>(reading: Promise<T>): Promise<T | undefined> {
  return await inTime(LONGEST_LOOK_MS, orUndefined(reading));
}

function foldedText({ projections }: ProjectionRows): string {
  const lag = Math.max(0, ...projections.map(({ lag_ms }) => lag_ms));
  const late = lag === 0 ? "all up to date" : `the slowest ${duration(lag)} behind`;
  return `${counted(projections.length, "projection")}, ${late}.`;
}

function sealText({ seals: [seal] }: Awaited<ReturnType<typeof listSeals>>): HtmlValue {
  if (!seal) return "None yet.";
  return html`${problemBadge(seal.problem)} Seal ${seal.number}${seal.at && html`, ${time(seal.at)}`}`;
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
const LINK_FORM = form({
  action: "/admin/explain",
  method: "get",
  fields: {
    link: {
      label: "Explain or block a link",
      required: true,
      maxlength: 500,
      isExact: true,
      placeholder: "Its short URL, host/slug or slug",
    },
  },
  isRow: true,
  button: "Explain",
});

/** While nothing could store them, and memory had no room. */
const GAPS: Columns<ClickGap> = {
  From: ({ from }) => time(from),
  Until: ({ until }) => time(until),
  Hits: "hits",
};

type ListedEvent = Awaited<ReturnType<typeof findEvents>>["events"][number];
type Act = ListedEvent & { events: number };

const ACTS: Columns<Act & { actor_name: string | null }> = {
  ...STREAM_EVENT_COLUMNS,
  Events: ({ events, correlation_id, type }) =>
    events === 1 ? "1" : textLink(eventsPath({ correlation_id, type }), count(events)),
};

/** The newest event of each type that a command appended, with how many there are: the links that an import made are one row. */
function actsOf(events: readonly ListedEvent[]): Act[] {
  const acts = Map.groupBy(events, ({ correlation_id, type }) => `${type} ${correlation_id}`);
  return [...acts.values()].map((ofAct) => ({ ...(ofAct[0] as ListedEvent), events: ofAct.length }));
}
