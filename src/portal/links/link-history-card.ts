// A link's history from its events: change, time, actor.
import type { Actor } from "../../event-store/port.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { LinkStep } from "../../queries/links/link-history.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { linkPath, outward } from "./link-view.ts";

const MOST_SHOWN = 100;

/** Newest first. `keys`: the account's, for their labels. */
export function historyCard(
  link: Pick<LinkDocument, "host" | "slug">,
  history: readonly LinkStep[],
  keys: readonly KeyDocument[],
): Html {
  const shown = history.slice(-MOST_SHOWN).reverse();
  return html`<section class="card"><h2>History</h2><ol class="plain timeline">${shown.map(
    (step) => html`<li><div><strong>${titleOf(step.type)}</strong>${detail(step)}</div>
<p class="muted small">${time(step.at)} · ${who(step.actor, keys)}</p></li>`,
  )}</ol>${history.length > shown.length && html`<p class="muted small">The last ${MOST_SHOWN} of ${history.length} changes.</p>`}
<p><a href="${linkPath(link, "/explain")}">Explain this link</a></p></section>`;
}

const TITLES: { [T in LinkStep["type"]]?: string } = {
  LinkRetargeted: "Destination changed",
  ClicksWithdrawn: "Hits withdrawn",
  ClicksRestored: "Withdrawn hits count again",
  Unreadable: "A change that can't be read",
};

/** `LinkDisabled` is shown as "Disabled". */
function titleOf(type: LinkStep["type"]): string {
  return TITLES[type] ?? type.replace(/^Link/, "");
}

function detail({ from, to, withdrawn, blocked }: LinkStep): Html | "" {
  if (blocked) return html`<p class="small">${blocked.legal && "For a legal reason: "}${blocked.reason}</p>`;
  if (withdrawn) return html`<p class="small">${withdrawn.clicks} no longer count: ${withdrawn.reason}</p>`;
  if (to === undefined) return "";
  return html`${from !== undefined && html`<p class="small leads-to">from ${outward(from)}</p>`}<p class="small leads-to">to ${outward(to)}</p>`;
}

function who(actor: Actor, keys: readonly KeyDocument[]): string {
  switch (actor.type) {
    case "key": {
      const key = keys.find(({ _id }) => _id === actor.id);
      return key ? `API key ${key.label || `…${key.hint}`}` : "an API key";
    }
    case "account":
      return "in the portal";
    case "operator":
      return "by the operator of this service";
    case "system":
      return "by the service";
  }
}
