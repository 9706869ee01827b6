// GET /portal/links/<host>/<slug>/explain: everything the log says of a link, and what proves it; the console shows it, too.

import type { Api } from "../../api/fastify.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import { type ExplainedStep, explainLink, type LinkExplanation } from "../../queries/audit/explain-link.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countRead } from "../shell/change-limit.ts";
import { type HtmlValue, html } from "../shell/html.ts";
import { badge, type Cards, type Columns, table, time } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { signedIn } from "../shell/sessions.ts";
import { count, counted, LinkParams, linkPath, outward, STATUS_WORDS, shortName } from "./link-view.ts";

/** What the console adds, and an owner has no page for. */
type ExplanationLinks = {
  owner?: () => HtmlValue;
  event?: (stream: string, revision: number) => string;
  clicks?: (link: string) => string;
};

const MOST_SHOWN = 200;
/** Characters; more than a change of all rules says, so that none of them is hidden. */
const LONGEST_SENTENCE = 40_000;
const MOST_SEALS = 20;
const VERDICTS = {
  proved: { tone: "good", words: "Proved" },
  sealed: { tone: "good", words: "Sealed; not verified just now" },
  unsealed: { tone: "warn", words: "Not sealed yet" },
  problem: { tone: "bad", words: "Not as it should be" },
} as const;

export function explainPage(app: Api, deps: PortalDeps): void {
  const page = { schema: { params: LinkParams } };
  app.get("/links/:host/:slug/explain", page, async (request, reply) => {
    const { params } = request;
    await countRead(deps, signedIn(request));
    const { accountId, personId } = signedIn(request);
    const explained = await explainLink(deps, params, { owner: accountId, reader: personId });
    const { link, short_url: shortUrl } = explained;
    return sendPage(reply, {
      title: `${link} explained`,
      nav: "Links",
      heading: html`<span class="break">${shortUrl === null ? link : shortName({ shortUrl })}</span>, explained`,
      above: html`<a href="${linkPath(params)}">Back to the link</a>`,
      lead: "Who made it, what was changed and by whom, its hits, and what proves that.",
      cards: [
        html`<p><a class="button" href="${linkPath(params, "/proof.ndjson")}" download>Take the proof home</a> <a href="/portal/proof">Check a proof</a></p>`,
        ...explanation(explained),
      ],
    });
  });
}

/** Also of the console, which adds `links`. */
export function explanation(
  explained: LinkExplanation,
  { owner, event, clicks: clicksOf }: ExplanationLinks = {},
): Cards {
  const { verdict, sentence, problems, link, clicks, history, withdrawals } = explained;
  const { destination, status, created_at: at, created_by: by } = explained;
  const { tone, words } = VERDICTS[verdict];
  const { total, first_at: first, last_at: last } = clicks;
  const shown = history.slice(-MOST_SHOWN).reverse();
  const about = {
    Destination: destination === null ? "unknown" : outward(destination),
    Status: status === "unreadable" ? "unreadable" : STATUS_WORDS[status],
    Made: html`${at === null ? "unknown" : time(at)}${by !== null && ` by ${by}`}`,
    Owner: owner?.(),
    Seals: sealsOf(explained),
  };
  const hits = {
    ...hitFacts(clicks),
    "In all": count(total),
    First: first !== null && time(first),
    Last: last !== null && time(last),
  };
  const each = clicksOf && html`<p><a href="${clicksOf(link)}">Each in the log</a></p>`;
  const events = table("Events, newest first", stepColumns(event), shown);
  const left = html`<p class="muted small">The last ${MOST_SHOWN} of ${history.length} events.</p>`;
  return [
    html`<section class="card stack"><h2>In one sentence</h2>
<p role="status">${badge(tone, words)}</p><p class="break">${sentence}</p>
${problems.length > 0 && html`<ul class="stack">${problems.map((problem) => html`<li class="break">${problem}</li>`)}</ul>`}</section>`,
    [
      { title: "The link", facts: about },
      { title: "Hits", facts: hits, body: each },
    ],
    { title: "What happened to it", body: html`${events}${history.length > shown.length && left}` },
    withdrawals.length > 0 && {
      title: "Withdrawn hits",
      body: table("Withdrawals, newest first", WITHDRAWALS, withdrawals.toReversed()),
    },
  ];
}

function sealsOf({ seals: { numbers, sealed, unsealed } }: LinkExplanation): string {
  const named = `${numbers.slice(0, MOST_SEALS).join(", ")}${numbers.length > MOST_SEALS ? " and more" : ""}`;
  const under = `${counted(sealed, "event")} under ${counted(numbers.length, "seal")}: ${named}`;
  const open = unsealed > 0 ? `; ${counted(unsealed, "event")} under none yet` : "";
  return (numbers.length === 0 ? "none yet" : under) + open;
}

export function hitFacts({ click, preview, qr_scan }: Record<ClickKind, number>) {
  const clicks = `${count(click + qr_scan)}, ${count(qr_scan)} of them QR scans`;
  return { Clicks: clicks, Previews: count(preview) };
}

function stepColumns(pathOf: ExplanationLinks["event"]): Columns<ExplainedStep> {
  const title = ({ type, stream, revision }: ExplainedStep) => {
    const name = html`<strong class="nowrap">${type || "Unreadable event"}</strong>`;
    return pathOf ? html`<a href="${pathOf(stream, revision)}">${name}</a>` : name;
  };
  return {
    Event: title,
    Recorded: ({ recorded_at: at }) => time(at),
    "What happened": (step) => html`<span class="break">${shortened(step.sentence)}</span>`,
  };
}

function shortened(sentence: string): string {
  if (sentence.length <= LONGEST_SENTENCE) return sentence;
  return `${cutText(sentence, LONGEST_SENTENCE)}… (${count(sentence.length)} characters)`;
}

const WITHDRAWALS: Columns<LinkExplanation["withdrawals"][number]> = {
  Made: ({ at }) => time(at),
  Hits: { end: true, cell: ({ clicks }) => count(clicks) },
  Reason: ({ reason }) => html`<span class="break">${reason}</span>`,
  State: ({ restored_at: at }) => (at === null ? "in force" : html`taken back ${time(at)}`),
};
