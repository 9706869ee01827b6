// GET /portal/links/<host>/<slug>/explain: everything the log says of a link, and what proves it; the console shows it, too.
import type { Api } from "../../api/fastify.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import { type ExplainedStep, explainLink, type LinkExplanation } from "../../queries/audit/explain-link.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { card, facts, pageHead, table } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { count, counted, LinkParams, linkPath, outward, shortName } from "./link-view.ts";

/** What the console adds, and an owner has no page for. */
type ExplanationLinks = {
  owner?: (found: LinkExplanation) => HtmlValue;
  event?: (stream: string, revision: number) => string;
  clicks?: (link: string) => string;
};

const MOST_SHOWN = 200;
const MOST_SEALS = 20;
const VERDICTS = {
  proved: { tone: "good", words: "Proved" },
  sealed: { tone: "good", words: "Nothing wrong seen" },
  unsealed: { tone: "warn", words: "Not sealed yet" },
  problem: { tone: "bad", words: "Not as it should be" },
} as const;

export function explainPage(app: Api, deps: PortalDeps): void {
  const one = { preHandler: requireSession, schema: { params: LinkParams } };
  app.get("/links/:host/:slug/explain", one, async (request, reply) => {
    const { params } = request;
    const found = await explainLink(deps, params, { owner: signedIn(request).accountId });
    const name = found.short_url === null ? found.link : shortName({ shortUrl: found.short_url });
    const head = {
      above: html`<a href="${linkPath(params)}">Back to the link</a>`,
      lead: "Who made it, what was changed and by whom, its hits, and what proves that.",
    };
    return sendPage(reply, {
      title: `${found.link} explained`,
      nav: "Links",
      styles: ["charts.css"],
      body: html`${pageHead(html`<span class="break">${name}</span>, explained`, head)}
${explanation(found)}`,
    });
  });
}

export function explanation(found: LinkExplanation, links: ExplanationLinks = {}): Html {
  const { verdict, sentence, problems } = found;
  const { tone, words } = VERDICTS[verdict];
  return html`<section class="card stack"><h2>In one sentence</h2>
<p role="status"><span class="badge badge-${tone}">${words}</span></p><p class="break">${sentence}</p>
${problems.length > 0 && html`<ul class="stack">${problems.map((one) => html`<li class="break">${one}</li>`)}</ul>`}</section>
<div class="grid">${linkCard(found, links)}${hitsCard(found, links)}</div>
${history(found, links)}
${found.withdrawals.length > 0 && withdrawals(found)}`;
}

function linkCard(found: LinkExplanation, { owner }: ExplanationLinks): Html {
  const { destination, state, created_at: at, created_by: by, seals } = found;
  const { numbers, sealed, unsealed } = seals;
  const named = `${numbers.slice(0, MOST_SEALS).join(", ")}${numbers.length > MOST_SEALS ? " and more" : ""}`;
  const under = `${counted(sealed, "event")} under ${counted(numbers.length, "seal")}: ${named}`;
  const open = unsealed > 0 && `; ${counted(unsealed, "event")} under none yet`;
  const rows = {
    Destination: destination === null ? "unknown" : outward(destination),
    State: state,
    Made: html`${at === null ? "unknown" : time(at)}${by !== null && ` by ${by}`}`,
    Owner: owner?.(found),
    Seals: html`${numbers.length === 0 ? "none yet" : under}${open}`,
  };
  return card("The link", facts(rows));
}

/** Within a list of facts. */
export function hitFacts({ click, preview, qr_scan }: Record<ClickKind, number>): Html {
  return html`<dt>Clicks</dt><dd>${count(click + qr_scan)}, ${count(qr_scan)} of them QR scans</dd><dt>Previews</dt><dd>${count(preview)}</dd>`;
}

function hitsCard({ link, clicks }: LinkExplanation, { clicks: pathOf }: ExplanationLinks): Html {
  const { total, first_at: first, last_at: last } = clicks;
  const rows = html`${hitFacts(clicks)}<dt>In all</dt><dd>${count(total)}</dd>
${first !== null && html`<dt>First</dt><dd>${time(first)}</dd>`}${last !== null && html`<dt>Last</dt><dd>${time(last)}</dd>`}`;
  const each = pathOf && html`<p><a href="${pathOf(link)}">Each in the log</a></p>`;
  return card("Hits", html`<dl class="facts">${rows}</dl>${each}`);
}

function history({ history: steps }: LinkExplanation, { event }: ExplanationLinks): Html {
  const shown = steps.slice(-MOST_SHOWN).reverse();
  const title = ({ type, stream, revision }: ExplainedStep) => {
    const name = html`<strong>${type || "Unreadable event"}</strong>`;
    return event ? html`<a href="${event(stream, revision)}">${name}</a>` : name;
  };
  const columns = [
    { name: "Event", cell: title },
    { name: "By", cell: ({ by }: ExplainedStep) => by },
    { name: "Recorded", cell: (step: ExplainedStep) => time(step.recorded_at) },
    { name: "What it says", cell: (step: ExplainedStep) => html`<span class="break">${said(step)}</span>` },
  ];
  const rest =
    steps.length > shown.length &&
    html`<p class="muted small">The last ${MOST_SHOWN} of ${steps.length} events.</p>`;
  return card("What happened to it", html`${table("Events, newest first", columns, shown)}${rest}`);
}

function said({ detail, error }: ExplainedStep): HtmlValue {
  if (error !== null) return "It can't be read.";
  const parts = Object.entries(detail).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return parts.length === 0 ? html`<span class="muted">nothing more</span>` : parts.join(" · ");
}

type Withdrawal = LinkExplanation["withdrawals"][number];

function withdrawals({ withdrawals: made }: LinkExplanation): Html {
  const columns = [
    { name: "Made", cell: ({ at }: Withdrawal) => time(at) },
    { name: "Hits", end: true, cell: ({ clicks }: Withdrawal) => count(clicks) },
    { name: "Reason", cell: ({ reason }: Withdrawal) => html`<span class="break">${reason}</span>` },
    {
      name: "State",
      cell: ({ restored_at: at }: Withdrawal) => (at === null ? "in force" : html`taken back ${time(at)}`),
    },
  ];
  return card("Withdrawn hits", table("Withdrawals, newest first", columns, made.toReversed()));
}
