// The rows of the list of links, and what can be done with those that are chosen.

import { OPTION_LIMITS } from "../../events/link-options.ts";
import type { TagColour } from "../../events/vocabulary.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { LAST_DAYS, lastDaysUntil } from "../../projections/definitions/last-days.ts";
import type { ListedLink } from "../../queries/links/list-links.ts";
import {
  analyticsOf,
  count,
  counted,
  linkPath,
  shortName,
  statusBadge,
  tagLink,
} from "../links/link-view.ts";
import { readableUrl } from "../links/urls.ts";
import { field } from "../shell/controls.ts";
import { type Html, html, offered } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { type Columns, confirmed, time } from "../shell/layout.ts";
import { keyName, type ListQuery, SEVERAL } from "./links-filters.ts";

/** Of a link; the others are a number. */
const MOST_TAGS = 2;
/** Letters at the end of a destination that are always in sight, such as a campaign's name. */
const END_SHOWN = 22;

/**
 * What can be done with the chosen links; portal.js adds their number to each button. `fitting`: how many links fit the
 * filters, undefined in an order without any.
 */
export function severalActions({ status }: ListQuery, fitting: number | undefined, most: number): Html {
  const act = (change: string, label: string, verb = label) =>
    html`<button class="button button-small${change === "delete" && " button-danger"}" name="change" value="${change}" data-verb="${verb}" ${(change === "export" || change === "qr") && html`data-stays`}>${label}</button>`;
  const question = html`<p>The chosen links answer 404 at once. You can restore them at any time: they stay in your list under “Deleted”.</p>`;
  const ofExisting = html`<details class="menu"><summary class="button button-small">Tag</summary><div class="menu-box">
${field({ id: "several-tag", label: "Tag", name: "tag", maxlength: OPTION_LIMITS.tag })}
<div class="actions">${act("tag", "Add", "Add to")}${act("untag", "Remove", "Remove from")}</div></div></details>
${status !== "disabled" && act("disable", "Disable")}${status !== "live" && act("enable", "Enable")}
${confirmed("Delete", question, act("delete", "Delete"), "button-small")}`;
  return html`<div class="actions several"><label class="check" hidden><input type="checkbox" data-choose="link">This page</label>
${fitting !== undefined && fitting > 1 && html`<label class="check"><input type="checkbox" name="all" value="${fitting}">All ${count(fitting)} that fit</label>`}
${status === "deleted" ? act("restore", "Restore") : ofExisting}${act("export", "Export")}${act("qr", "QR codes", "QR codes of")}
${fitting !== undefined && fitting > most && html`<span class="hint">${count(most)} at a time</span>`}</div>`;
}

/** `people`: as the reader calls them, by their ids. `chosen`: keys of the links whose boxes are ticked. `today`: YYYY-MM-DD, UTC. */
export function linkColumns({
  keys,
  people,
  colours,
  chosen,
  today,
}: Makers & {
  colours: ReadonlyMap<string, TagColour>;
  chosen: readonly string[];
  today: string;
}): Columns<ListedLink> {
  const makerOf = makersIn({ keys, people });
  const clicks = (link: ListedLink) =>
    html`<span class="clicks">${lastDaysChart(link, today)}<a href="${analyticsOf(link)}" aria-label="${count(link.clicks)} clicks, view analytics">${count(link.clicks)}</a></span>`;
  const maker = (link: ListedLink) => {
    const name = makerOf(link);
    return name === "" ? "in the portal" : `by ${name}`;
  };
  return {
    Link: (link) => linkCell(link, chosen.includes(link._id), colours),
    Clicks: { cell: clicks, end: true, width: 12 },
    Made: {
      cell: (link) =>
        html`<span class="made"><span class="nowrap">${time(link.createdAt)}</span><span class="clip small muted">${maker(link)}</span></span>`,
      width: 12,
    },
  };
}

type Makers = { keys: readonly KeyDocument[]; people: ReadonlyMap<string, string> };

/** What readers call the member or the key that made a link; empty for imports. `people`: names by their ids. */
export function makersIn({ keys, people }: Makers) {
  const names = new Map(keys.map((key) => [key._id, keyName(key)]));
  return ({ via, makerId }: Pick<ListedLink, "via" | "makerId">): string =>
    via === "web" ? (people.get(makerId ?? "") ?? "") : `key ${names.get(makerId ?? "") ?? "of a program"}`;
}

/** Ids of the people who made the links. */
export function peopleMaking(links: readonly Pick<ListedLink, "via" | "makerId">[]): string[] {
  return links.flatMap(({ via, makerId }) => (via === "web" && makerId !== null ? makerId : []));
}

/** Two lines: what it is called, with its state and tags; what visitors see, and where they get. */
function linkCell(link: ListedLink, isChosen: boolean, colours: ReadonlyMap<string, TagColour>): Html {
  const { _id: key, shortUrl, status, title, longUrl, tags = [] } = link;
  const [id, name] = [`short-${key}`, shortName(link)];
  const rest = tags.slice(MOST_TAGS);
  const copy = html`<span id="${id}" hidden>${shortUrl}</span><button type="button" class="button button-icon button-small" data-copy="${id}" aria-label="Copy ${name}" title="Copy" hidden>${icon("copy")}</button>`;
  return html`<div class="listed">${offered(SEVERAL, html`<input type="checkbox" name="link" value="${key}" aria-label="Choose ${name}" ${isChosen && html`checked`}>`)}<div>
<span class="short"><a class="clip listed-title" dir="auto" href="${linkPath(link)}">${title ?? name}</a>${title === undefined && copy}${statusBadge(status)}
${tags.slice(0, MOST_TAGS).map((tag) => tagLink(tag, colours.get(tag)))}${rest.length > 0 && html`<span class="muted small" title="${rest.join(", ")}">+${rest.length}</span>`}</span>
<span class="short small">${title !== undefined && html`<span class="clip">${name}</span>${copy}`}
${destination(longUrl)}</span></div></div>`;
}

function destination(longUrl: string): Html {
  return html`<a class="cut" href="${longUrl}" rel="noreferrer noopener nofollow" target="_blank" title="${longUrl}">${cutInTheMiddle(longUrl)}</a>`;
}

/** Of what has the class `cut`: a whole URL, in two parts of which the style cuts the first where there is no room. */
export function cutInTheMiddle(longUrl: string): Html {
  const letters = Array.from(readableUrl(longUrl.replace(/^https?:\/\//, "")));
  const start = letters.length > 2 * END_SHOWN ? letters.length - END_SHOWN : letters.length;
  return html`<span class="clip">${letters.slice(0, start).join("")}</span><span>${letters.slice(start).join("")}</span>`;
}

const HEIGHT = 20;
const BAR = 5;
const WIDTH = LAST_DAYS * (BAR + 1);

/** The clicks of the last days, the same in words. */
function lastDaysChart({ lastDays, date }: ListedLink, today: string): Html {
  const days = lastDaysUntil(today, lastDays, date);
  const most = Math.max(...days);
  const bars = days.map((clicks, n) => {
    const height = clicks === 0 ? 1 : Math.max(2, Math.round((clicks / most) * HEIGHT));
    return `M${n * (BAR + 1)} ${HEIGHT}v-${height}h${BAR}v${height}z`;
  });
  const sum = days.reduce((all, clicks) => all + clicks, 0);
  const text = `${counted(sum, "click")} in the last ${LAST_DAYS} days${sum > 0 ? `, at most ${count(most)} a day` : ""}`;
  return html`<svg class="last-days" role="img" aria-label="${text}" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"><title>${text}</title><path d="${bars.join("")}"/></svg>`;
}
