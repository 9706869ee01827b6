// GET /admin: what is wrong with the service, how projections and seals stand, and what the operator did last.
// GET /admin/seals: the seals of the log, and its last verification with the button for another one.
import type { Api } from "../../api/fastify.ts";
import type { Problem } from "../../api/operations/problems.ts";
import type { VerificationRun } from "../../audit/verification-runs.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import { gapsBetween } from "../../queries/analytics/gaps.ts";
import { findEvents } from "../../queries/audit/find-events.ts";
import { type ListedSeal, listSeals } from "../../queries/audit/list-seals.ts";
import { type ProjectionRows, projectionRows } from "../../queries/audit/projection-rows.ts";
import { questions } from "../../queries/audit/questions.ts";
import { count, counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { type Columns, card, copyable, facts, postButton, time } from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import { questionPage, sendConsolePage } from "./question-page.ts";
import {
  badge,
  duration,
  eventPath,
  projectionPath,
  rowTable,
  STREAM_EVENT_COLUMNS,
  shortPosition,
  tableCard,
  textLink,
} from "./view.ts";

const LOOK_AGAIN_MS = 10_000;
const LAST_GAPS = 10;
const LAST_ACTS = 10;
/** Among which they are looked for: an import makes many events of one act. */
const EVENTS_OF_ACTS = 200;

export function overviewPage(app: Api, deps: ConsoleDeps): void {
  app.get("/", async (_request, reply) => {
    const [problems, rows, { seals }, run, { events }, gaps] = await Promise.all([
      deps.problems("operator"),
      projectionRows(deps),
      listSeals(deps, { limit: 1 }),
      deps.verifications.read(),
      findEvents(deps, { actor: "operator" }, { limit: EVENTS_OF_ACTS }),
      gapsBetween(deps.readStore, 0, Number.POSITIVE_INFINITY),
    ]);
    const [seal] = seals;
    const sealText = seal
      ? html`<p>${problemBadge(seal.problem)} Seal ${seal.number}${seal.at && html`, ${time(seal.at)}`}</p>`
      : html`<p class="muted">None yet.</p>`;
    const verified = run?.result
      ? html`${verdictBadge(run.result)} Checked ${time(run.updated_at)}.`
      : "Not verified from here yet.";
    return sendConsolePage(reply, {
      nav: "Overview",
      title: "Console",
      lead: "The log of this service, and what is computed from it.",
      isLive: true,
      body: html`${problemsCard(problems)}
${linkForm}
<div class="grid">${card("Projections", html`${projectionsText(rows)}<p><a href="/admin/projections">All projections</a></p>`)}
${card("Seals", html`${sealText}<p>${verified}</p><p><a href="/admin/seals">All seals</a></p>`)}</div>
${gaps.length > 0 && html`<div id="gaps"></div>`}${gaps.length > 0 && tableCard("Clicks that were not recorded, newest first", gaps.reverse().slice(0, LAST_GAPS), GAPS)}
${tableCard("What the operator did, newest first", actsOf(events).slice(0, LAST_ACTS), ACTS, "Nothing yet.")}
<p><a href="${address("/admin/events", { actor: "operator" })}">All that the operator did</a></p>`,
    });
  });
}

/** Positions, as machines sort them. */
const PADDED = /\b0{4,}[\d:]+/g;
const LEVELS = {
  unready: ["bad", "Not ready"],
  degraded: ["warn", "Disturbed"],
  notice: ["accent", "Notice"],
} as const;

/** One line where nothing is wrong. `data-live`: live.js looks again. */
function problemsCard(problems: readonly Problem[]): Html {
  const live = html`id="problems" data-live data-busy="${LOOK_AGAIN_MS}"`;
  if (problems.length === 0)
    return html`<p ${live} class="notice notice-done" role="status">${icon("check")}Nothing is wrong.</p>`;
  const row = ({ level, part, reason, at }: Problem) => {
    const [tone, word] = LEVELS[level];
    return html`<li>${badge(tone, word)} <strong>${part}</strong> <span class="break">${reason.replace(PADDED, shortPosition)}</span>${at !== undefined && html` <a class="nowrap" href="${at}">Look at it</a>`}</li>`;
  };
  return html`<section ${live} class="card ${problems[0]?.level !== "notice" && "card-danger"}"><h2>What is wrong</h2><ul class="stack">${problems.map(row)}</ul></section>`;
}

/** A short URL as it was reported can be pasted: the page that explains the link also blocks it. */
const linkForm = html`<form method="get" action="/admin/explain" class="form-row" role="search">
${field({ label: "Explain or block a link", name: "link", required: true, maxlength: 500, autocomplete: "off", isExact: true, placeholder: "Its short URL, host/slug or slug" })}
<button class="button">Explain</button></form>`;

/** While nothing could store them, and memory had no room. */
const GAPS: Columns<ClickGap> = { From: "from", Until: "until", Hits: ({ hits }) => count(hits) };

type ListedEvent = Awaited<ReturnType<typeof findEvents>>["events"][number];
type Act = ListedEvent & { events: number };

const ACTS: Columns<Act> = {
  ...STREAM_EVENT_COLUMNS,
  Events: ({ events, correlation_id, type }) =>
    events === 1 ? "1" : textLink(address("/admin/events", { correlation_id, type }), count(events)),
};

/** The newest event of each type that a command appended, with how many there are: the links that an import made are one row. */
function actsOf(events: readonly ListedEvent[]): Act[] {
  const acts = Map.groupBy(events, ({ correlation_id, type }) => `${type} ${correlation_id}`);
  return [...acts.values()].map((ofAct) => ({ ...(ofAct[0] as ListedEvent), events: ofAct.length }));
}

function projectionsText({ projections }: ProjectionRows): Html {
  const lag = Math.max(0, ...projections.map(({ lag_ms }) => lag_ms));
  return html`<p>${counted(projections.length, "projection")}, ${lag === 0 ? "all up to date" : `the slowest ${duration(lag)} behind`}.</p>`;
}

export function sealsPage(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/seals", questions.seals, {
    async show(answer) {
      const { seals = [], sealed_up_to: upTo = null, public_key: key = "" } = answer ?? {};
      const verify = postButton("/admin/verification", "Verify every event", { kind: "primary" });
      const sealed = facts({
        "Up to position": upTo === null ? "Nothing on this page that can be trusted" : shortPosition(upTo),
        "Public key": copyable("public-key", key, "the public key"),
      });
      return {
        nav: "Seals",
        title: "Seals",
        isLive: true,
        lead: "Signed digests of the log, every ten thousand events and after a quiet minute: a past that was changed is found.",
        body: html`${card("Verification", html`${verification(await deps.verifications.read())}${verify}`)}${card("Sealed", sealed)}
${sealTable(seals)}`,
      };
    },
  });
}

const KEYS = {
  present: "this service",
  previous: "this service, earlier key",
  other: "another key",
} as const;

function sealTable(seals: readonly ListedSeal[]): Html {
  const columns: Columns<ListedSeal> = {
    Seal: ({ number }) => html`<a href="${eventPath("seals", number)}"><strong>${number}</strong></a>`,
    Sealed: "at",
    Events: "events",
    "Up to position": ({ position }) =>
      position !== null && html`<span class="break">${shortPosition(position)}</span>`,
    "Signed by": ({ key }) => KEYS[key],
    State: ({ problem }) => problemBadge(problem),
  };
  const none = ["No seals yet", "The first comes a minute after the last event."] as const;
  return tableCard("Seals, newest first", seals, columns, none);
}

/** `data-live`: live.js reloads it while `data-busy` is there. */
function verification(run: VerificationRun | undefined): Html {
  if (!run)
    return html`<div id="verification" data-live><p class="muted">The log has not been verified from here yet.</p></div>`;
  const { state, started_at, updated_at, events, result, error } = run;
  const checked = counted(events, "event");
  return html`<div id="verification" data-live ${state === "running" && html`data-busy`} class="stack">
${state === "running" && html`<p role="status">${badge("accent", "Running")} ${checked} checked so far. Begun ${time(started_at)}.</p><progress aria-label="Verification"></progress>`}
${state === "interrupted" && html`<p>${badge("warn", "Interrupted")} It ended with its process, after ${checked}.</p>`}
${state === "failed" && html`<p>${badge("bad", "Failed")} ${error}</p>`}
${
  result &&
  html`<p role="status">${verdictBadge(result)} ${checked} checked ${time(updated_at)}.</p>
<p class="break">${result.sentence}</p>
${
  result.problems.length > 0 &&
  rowTable("Problems", result.problems, {
    Stream: ({ stream, revision }) =>
      stream === "" || revision < 0
        ? "The log"
        : textLink(eventPath(stream, revision), `${stream}, revision ${revision}`),
    Problem: ({ check, message }) => `${check}: ${message}`,
  })
}
${
  result.anchor &&
  html`${copyable("anchor", result.anchor, "the anchor")}<p class="muted small">The anchor: give it to a later <code>linkledger audit verify --anchor</code>.</p>`
}`
}</div>`;
}

/** Whether something is all right, and else what is wrong with it. */
function problemBadge(problem: string | null): Html {
  return problem === null ? badge("good", "Good") : badge("bad", problem);
}

/** In a few words; its sentence says more. */
function verdictBadge({ verdict }: NonNullable<VerificationRun["result"]>): Html {
  if (verdict === "proved") return badge("good", "Proved: no changes found");
  return verdict === "problem" ? badge("bad", "Not proved") : badge("warn", "Nothing is proved yet");
}
