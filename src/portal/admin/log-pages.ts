// Pages of the log: streams, one stream, events that were looked for, all in order, hits, and one link explained.
import type { Api } from "../../api/fastify.ts";
import { MOST_REASON } from "../../commands/accept-text.ts";
import { namedLink } from "../../commands/links/change-link.ts";
import { currentLink } from "../../commands/links/link-stream.ts";
import { PREFIX } from "../../events/streams.ts";
import { eventIndex } from "../../projections/definitions/event-index.ts";
import type { AuditedEvent } from "../../queries/audit/audited-event.ts";
import type { LinkExplanation } from "../../queries/audit/explain-link.ts";
import type { ClicksPage } from "../../queries/audit/find-clicks.ts";
import { ACCOUNT_NAMES, CATEGORIES, questions } from "../../queries/audit/questions.ts";
import { hasState } from "../../queries/audit/stream-state.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import { explanation } from "../links/explain-page.ts";
import { counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { type Columns, card, confirmed, postButton, time } from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import { questionPage } from "./question-page.ts";
import {
  EVENT_COLUMNS,
  eventPath,
  projectionPath,
  STREAM_EVENT_COLUMNS,
  shortPosition,
  statePath,
  streamPath,
  tableCard,
  textLink,
} from "./view.ts";

const HOUR_MS = 3_600_000;

export function logPages(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/streams", questions.streams, {
    find: "Show",
    show: (answer = { streams: [], next: null }, { category, account }) => ({
      nav: "Streams",
      title: "Streams",
      lead:
        "hours" in answer
          ? "Hits lie in streams of their writers and days: look at them by the hour."
          : `Found by category, and by ${ACCOUNT_NAMES} of an account; newest first by their first events.`,
      body: html`<nav class="choices" aria-label="Category">${CATEGORIES.map(
        (row) =>
          html`<a href="${address("/admin/streams", { category: row, account })}" ${row === category && html`aria-current="true"`}>${row}</a>`,
      )}</nav>
${"hours" in answer ? tableCard("Hours with hits", answer.hours, HOURS, NO_HOURS) : tableCard("Streams found", answer.streams, STREAMS, NO_STREAMS)}`,
    }),
  });

  questionPage(app, deps, "/stream", questions.stream, {
    async show(answer, { name }) {
      const events = answer?.events ?? [];
      return {
        nav: "Streams",
        title: name,
        heading: html`<span class="break">${name}</span>`,
        above: html`<a href="${address("/admin/streams", { category: categoryOf(name) })}">Streams</a>`,
        actions: hasState(name) && html`<a class="button" href="${statePath(name)}">State</a>`,
        body: html`${await blockCard(deps, name)}
${tableCard("Events, newest first", events, EVENT_COLUMNS)}`,
      };
    },
  });

  questionPage(app, deps, "/events", questions.events, {
    find: "Find",
    show: (answer = { events: [], next: null, set_aside: [] }) => ({
      nav: "Find events",
      title: "Find events",
      lead: html`Of accounts, domains, links and the operator, newest first, a second after they happened. <a href="/admin/clicks">Hits</a> are found apart; <a href="/admin/log">the log</a> has everything in its order, and <a href="/admin/explain">explain a link</a> all of one link.`,
      body: html`${
        answer.set_aside.length > 0 &&
        html`<p class="muted">${counted(answer.set_aside.length, "event")} that can't be read may be among them: <a href="${projectionPath(eventIndex.name)}">set aside</a>.</p>`
      }
${tableCard("Events found", answer.events, STREAM_EVENT_COLUMNS, ["Nothing found", "No event is like that."])}`,
    }),
  });

  questionPage(app, deps, "/log", questions.log, {
    find: "Show",
    more: "Later",
    show: (answer) => ({
      nav: "Find events",
      title: "The log",
      above: html`<a href="/admin/events">Find events</a>`,
      lead: html`Everything in the order of positions, hits too; seals are <a href="/admin/seals">apart</a>.`,
      body: tableCard("Events", answer?.events ?? [], STREAM_EVENT_COLUMNS, [
        "Nothing there",
        "The log ends before.",
      ]),
    }),
  });

  questionPage(app, deps, "/clicks", questions.clicks, {
    find: "Find",
    more: "Later",
    show: ({ from, to, events, next }: ClicksPage = { from: null, to: null, events: [], next: null }) => ({
      nav: "Hits",
      title: "Hits",
      lead: html`Clicks of people, by link or QR code, and previews by programs: ${from && to ? html`recorded from ${time(from)} until ${time(to)}` : "of all times"}, in the order of the log. <a href="/admin/streams?category=clicks">Hours with hits</a>`,
      body: html`${tableCard("Hits found", events, HITS, ["No hits", next === null ? "None was recorded that is like that." : "None so far: the log is long, and the search goes on from here."])}
${next !== null && html`<p class="muted small">Searched up to position ${shortPosition(next)}: there may be more.</p>`}`,
    }),
  });

  questionPage(app, deps, "/explain", questions.explain, {
    find: "Explain",
    show: async (answer) => ({
      nav: "Explain a link",
      title: answer ? `${answer.link} explained` : "Explain a link",
      heading: answer ? html`<span class="break">${answer.link}, explained</span>` : "Explain a link",
      lead: "Who made it, what was changed and by whom, its hits, and what proves that.",
      body:
        answer &&
        html`${explanation(answer, { owner, event: eventPath, clicks: (link) => address("/admin/clicks", { link }) })}
${await blockCard(deps, `${PREFIX.link}${answer.link}`)}`,
    }),
  });
}

function owner({ owner: { account_id: account, email } }: LinkExplanation): Html | string {
  if (account === null) return "unknown";
  return textLink(address("/admin/events", { account }), email ?? account);
}

type Streams = Awaited<ReturnType<typeof questions.streams.answer>>;
type Stream = Extract<Streams, { streams: unknown }>["streams"][number];
type Hour = Extract<Streams, { hours: unknown }>["hours"][number];

const NO_STREAMS = ["No streams", "There is none of this category, or none of this account."] as const;
const STREAMS: Columns<Stream> = {
  Stream: "stream",
  Account: "account",
  Events: "events",
  "First event": "opened_at",
  "Last event": ({ last_type, last_recorded_at }) =>
    html`${last_type} <span class="muted small">${time(last_recorded_at)}</span>`,
};

const NO_HOURS = ["No hits", "Nobody has followed a link yet."] as const;
const HOURS: Columns<Hour> = {
  Hour({ hour }) {
    const to = new Date(Date.parse(hour) + HOUR_MS).toISOString();
    return html`<a href="${address("/admin/clicks", { from: hour, to })}"><strong>${hour.slice(0, 13).replace("T", " ")}:00 UTC</strong></a>`;
  },
  "Hits recorded": "clicks",
};

const hit = ({ data }: AuditedEvent) =>
  data as Record<"link" | "kind" | "country" | "userAgent" | "ip", string>;

const HITS: Columns<AuditedEvent> = {
  Recorded: ({ stream, revision, recorded_at }) =>
    html`<a class="nowrap" href="${eventPath(stream, revision)}">${time(recorded_at)}</a>`,
  Link: (of) => textLink(streamPath(`${PREFIX.link}${hit(of).link}`), hit(of).link),
  Kind: (of) => hit(of).kind,
  From: (of) => html`${hit(of).country} <span class="muted small">${hit(of).ip}</span>`,
  "User agent": (of) => html`<span class="break small">${hit(of).userAgent}</span>`,
};

/** Whether the operator has blocked the link, and the forms for it; undefined for a stream of another kind. */
async function blockCard({ eventStore, baseHost }: ConsoleDeps, stream: string): Promise<Html | undefined> {
  if (!stream.startsWith(PREFIX.link)) return undefined;
  const link = stream.slice(PREFIX.link.length);
  const { host, slug } = namedLink(link, baseHost);
  const state = await currentLink(eventStore, host, slug);
  if (state.status === "free") return undefined;
  if (state.block) {
    const { since, legal, reason } = state.block;
    const why = html`<p>Since ${time(since)}${legal && ", for a legal reason"}: <span class="break">${reason}</span></p>`;
    const unblock = postButton("/admin/links/unblock", "Unblock link", { fields: { link } });
    return card("Blocked", html`${why}${unblock}`, { kind: "danger" });
  }
  const form = html`<form method="post" action="/admin/links/block" class="stack">${hiddenFields({ link })}
${field({ label: "Reason", name: "reason", required: true, maxlength: MOST_REASON, autocomplete: "off", hint: "The link's owner sees it." })}
<label class="check"><input type="checkbox" name="legal" value="yes"> The law demands it: answer 451 instead of 404</label>
<div><button class="button button-danger">Block link</button></div></form>`;
  const question = html`<p><strong class="break">${link}</strong> stops at once.</p>`;
  return card("Block", html`<div>${confirmed("Block link", question, form)}</div>`, {
    lead: "Visitors get 404, and the owner can't enable, restore or change the link until you unblock it. Clicks are still recorded.",
  });
}
