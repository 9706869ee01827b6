// Pages of the log: streams, one stream, events that were looked for, all in order, hits, and one link explained.
import type { Api } from "../../api/fastify.ts";
import { MOST_REASON } from "../../commands/accept-text.ts";
import { currentLink } from "../../commands/links/link-stream.ts";
import { PREFIX } from "../../events/streams.ts";
import { eventIndex } from "../../projections/definitions/event-index.ts";
import type { AuditedEvent } from "../../queries/audit/audited-event.ts";
import type { ClicksPage } from "../../queries/audit/find-clicks.ts";
import { ACCOUNT_NAMES, CATEGORIES, questions } from "../../queries/audit/questions.ts";
import { hasState } from "../../queries/audit/stream-state.ts";
import { namedLink } from "../../queries/links/named-link.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import { explanation } from "../links/explain-page.ts";
import { counted } from "../links/link-view.ts";
import { address } from "../shell/address.ts";
import { form } from "../shell/controls.ts";
import { html } from "../shell/html.ts";
import { type Card, type Columns, choices, confirmed, postButton, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import {
  EVENT_COLUMNS,
  eventPath,
  eventsPath,
  projectionPath,
  rowsCard,
  STREAM_EVENT_COLUMNS,
  shortPosition,
  statePath,
  streamPath,
  textLink,
} from "./answer-cells.ts";
import { questionPage } from "./question-page.ts";

const HOUR_MS = 3_600_000;

type Streams = Awaited<ReturnType<typeof questions.streams.answer>>;

export function logPages(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/streams", questions.streams, {
    nav: "Streams",
    find: "Show",
    show(answer = { streams: [], next: null }, { category, account }) {
      const pathOf = (category: string) => address("/admin/streams", { category, account });
      const links = CATEGORIES.map((name) => [name, pathOf(name), name === category] as const);
      const [lead, list] =
        "hours" in answer
          ? [BY_THE_HOUR, rowsCard("Hours with hits", HOURS, answer.hours, "Nobody has followed a link yet.")]
          : [BY_CATEGORY, rowsCard("Streams found", STREAMS, answer.streams, NO_STREAMS)];
      return { lead, cards: [choices("Category", links), list] };
    },
  });

  questionPage(app, deps, "/stream", questions.stream, {
    nav: "Streams",
    show: async (answer, { name }) => ({
      title: name,
      heading: html`<span class="break">${name}</span>`,
      above: html`<a href="${address("/admin/streams", { category: categoryOf(name) })}">Streams</a>`,
      actions: hasState(name) && html`<a class="button" href="${statePath(name)}">State</a>`,
      cards: [
        await blockCard(deps, name),
        rowsCard("Events, newest first", EVENT_COLUMNS, answer?.events ?? [], "None."),
      ],
    }),
  });

  questionPage(app, deps, "/events", questions.events, {
    nav: "Find events",
    find: "Find",
    lead: html`Of accounts, domains, links and the operator, newest first, a second after they happened. <a href="/admin/clicks">Hits</a> are found apart; <a href="/admin/log">the log</a> has everything in its order, and <a href="/admin/explain">explain a link</a> all of one link.`,
    show(answer) {
      const { events = [], set_aside: aside = [] } = answer ?? {};
      const passed = html`<p class="muted">${counted(aside.length, "event")} that can't be read may be among them: <a href="${projectionPath(eventIndex.collection.name)}">set aside</a>.</p>`;
      const list = rowsCard("Events found", STREAM_EVENT_COLUMNS, events, "No event is like that.");
      return [aside.length > 0 && passed, list];
    },
  });

  questionPage(app, deps, "/log", questions.log, {
    nav: "Find events",
    title: "The log",
    above: html`<a href="/admin/events">Find events</a>`,
    lead: html`Everything in the order of positions, hits too; seals are <a href="/admin/seals">apart</a>.`,
    find: "Show",
    more: "Later",
    show: (answer) => [
      rowsCard("Events", STREAM_EVENT_COLUMNS, answer?.events ?? [], "The log ends before."),
    ],
  });

  questionPage(app, deps, "/clicks", questions.clicks, {
    nav: "Hits",
    find: "Find",
    more: "Later",
    show({ from, to, events, next }: ClicksPage = { from: null, to: null, events: [], next: null }) {
      const when = from && to ? html`recorded from ${time(from)} until ${time(to)}` : "of all times";
      const upTo =
        next !== null &&
        html`<p class="muted small">Searched up to position ${shortPosition(next)}: there may be more.</p>`;
      return {
        lead: html`Clicks of people, by link or QR code, and previews by programs: ${when}, in the order of the log. <a href="/admin/streams?category=clicks">Hours with hits</a>`,
        cards: [rowsCard("Hits found", HITS, events, next === null ? NO_HITS : NO_HITS_YET), upTo],
      };
    },
  });

  questionPage(app, deps, "/explain", questions.explain, {
    nav: "Explain a link",
    lead: "Who made it, what was changed and by whom, its hits, and what proves that.",
    find: "Explain",
    async show(answer) {
      if (!answer) return [];
      const { link, owner } = answer;
      const { account_id: account, email } = owner;
      const ways = {
        owner: () => (account === null ? "unknown" : textLink(eventsPath({ account }), email ?? account)),
        event: eventPath,
        clicks: (link: string) => address("/admin/clicks", { link }),
      };
      return {
        title: `${link} explained`,
        heading: html`<span class="break">${link}, explained</span>`,
        cards: [...explanation(answer, ways), await blockCard(deps, `${PREFIX.link}${link}`)],
      };
    },
  });
}

const BY_THE_HOUR = "Hits lie in streams of their writers and days: look at them by the hour.";
const BY_CATEGORY = `Found by category, and by ${ACCOUNT_NAMES} of an account; newest first by their first events.`;
const NO_STREAMS = "There is none of this category, or none of this account.";
const NO_HITS = "None was recorded that is like that.";
const NO_HITS_YET = "None so far: the log is long, and the search goes on from here.";

const STREAMS: Columns<Extract<Streams, { streams: unknown }>["streams"][number]> = {
  Stream: "stream",
  Account: "account",
  Events: "events",
  "First event": "opened_at",
  "Last event": ({ last_type, last_recorded_at }) =>
    html`${last_type} <span class="muted small">${time(last_recorded_at)}</span>`,
};

const HOURS: Columns<Extract<Streams, { hours: unknown }>["hours"][number]> = {
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

const hint = "The link's owner sees it.";
const BLOCK_FIELDS = {
  reason: { label: "Reason", required: true, maxlength: MOST_REASON, autocomplete: "off", hint },
  legal: { label: "The law demands it: answer 451 instead of 404", isBox: true },
};

/** Whether the operator has blocked the link, and the forms for it; undefined for a stream of another kind. */
async function blockCard({ eventStore, baseHost }: ConsoleDeps, stream: string): Promise<Card | undefined> {
  if (!stream.startsWith(PREFIX.link)) return undefined;
  const link = stream.slice(PREFIX.link.length);
  const { host, slug } = namedLink(link, baseHost);
  const state = await currentLink(eventStore, { host, slug });
  if (state.status === "free") return undefined;
  if (state.block) {
    const { since, legal, reason } = state.block;
    const why = html`<p>Since ${time(since)}${legal && ", for a legal reason"}: <span class="break">${reason}</span></p>`;
    const unblock = postButton("/admin/links/unblock", "Unblock link", { fields: { link } });
    return { title: "Blocked", body: html`${why}${unblock}`, kind: "danger" };
  }
  const declared = { action: "/admin/links/block", fields: BLOCK_FIELDS, hidden: { link } };
  const question = html`<p><strong class="break">${link}</strong> stops at once.</p>`;
  const block = form({ ...declared, button: "Block link", buttonKind: "danger" });
  return {
    title: "Block",
    lead: "Visitors get 404, and the owner can't enable, restore or change the link until you unblock it. Clicks are still recorded.",
    body: html`<div>${confirmed("Block link", question, block)}</div>`,
  };
}
