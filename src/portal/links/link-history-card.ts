// The history of a link on its page: who did what and when, as sentences, newest first.
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { actorWords, atStart, clausesOf } from "../../queries/links/history-sentences.ts";
import type { LinkStep } from "../../queries/links/link-history.ts";
import { type Html, html } from "../shell/html.ts";
import { card, time } from "../shell/layout.ts";
import { clauseInWords } from "./fields-in-words.ts";
import { linkPath } from "./link-view.ts";

const MOST_STEPS = 100;

/** `keys`: the account's, for their labels. `people`: as the reader calls them, by their ids. */
export function historyCard(
  link: LinkDocument,
  history: readonly LinkStep[],
  keys: readonly KeyDocument[],
  people: ReadonlyMap<string, string>,
): Html {
  const shown = history.slice(-MOST_STEPS).reverse();
  const rest = html`<p class="muted small">The last ${MOST_STEPS} of ${history.length} changes.</p>`;
  return card(
    "History",
    html`<ol class="timeline">${shown.map((step) => entry(step, keys, people))}</ol>${history.length > shown.length && rest}
<p><a href="${linkPath(link, "/explain")}">What proves this?</a></p>`,
  );
}

function entry(step: LinkStep, keys: readonly KeyDocument[], people: ReadonlyMap<string, string>): Html {
  const { actor, at } = step;
  const key = keys.find(({ _id }) => actor.type === "key" && _id === actor.id);
  const [first = [], ...others] = clausesOf(step);
  const rest = others.map((clause) => html`<div>and ${clauseInWords(clause)}</div>`);
  return html`<li class="break"><div><strong>${atStart(actorWords(step, people, key))}</strong> ${clauseInWords(first)}</div>${rest}
<p class="muted small">${time(at)}</p></li>`;
}
