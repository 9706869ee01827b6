// What a link is, or will be as it is typed: its code, how it looks in lists, and where it leads, for whom and until when, each
// rule and limit as a sentence.
import type { FieldGroup } from "../../commands/links/fields/link-fields.ts";
import { shownRule } from "../../commands/links/fields/rule-fields.ts";
import type { LinkRule } from "../../events/link-options.ts";
import { conditionsInWords } from "../../queries/links/rule-sentences.ts";
import { leftForLink, type Reach, reachOfRules } from "../../redirect/rules/reach.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { card, time } from "../shell/layout.ts";
import { clauseInWords, ownDirection, usedOf } from "./fields-in-words.ts";
import { counted, outward, tagLink } from "./link-view.ts";
import type { PlannedFields } from "./typed-fields.ts";
import { readableUrl } from "./urls.ts";

/** `A` for the first: what a rule without a name is called. */
export function letterOf(place: number): string {
  return String.fromCharCode(65 + place);
}

type Words = (fields: PlannedFields) => HtmlValue[];

/** What is set, by the switches of the form; nothing for what isn't. */
const WORDS: Readonly<Record<Exclude<FieldGroup, "about">, Words>> = {
  schedule: ({ active_from: from, expires_at: to, expired_url: url }) => [
    from && html`Active from ${time(from)}`,
    to && html`Expires on ${time(to)}, then ${instead(url)}`,
    url && !to && html`Instead of it: ${shownUrl(url)}`,
  ],
  limit: ({ max_clicks: most, expired_url: url }) => [
    most !== undefined && html`After ${counted(most, "click")} of people ${instead(url)}`,
  ],
  password: ({ has_password: isSet }) => [isSet && "Visitors are asked for a password"],
  rules: ({ rules = [] }) => [rules.length > 0 && counted(rules.length, "rule")],
  redirect: ({ redirect_code: code, forward_query: winner }) => [
    code && `Answers with ${code}`,
    winner && `The visitor's query goes along${winner === "visitor" ? ", and wins" : ""}`,
  ],
  notes: ({ comments, external_id: id }) => [
    comments && "Comments",
    id && html`External ID ${ownDirection(id)}`,
  ],
};

/** In a line, beside a switch. */
export function groupInWords(group: keyof typeof WORDS, fields: PlannedFields): Html {
  const words = WORDS[group](fields).filter(Boolean);
  return html`${words.map((part, n) => html`${n > 0 && " · "}${part}`)}`;
}

function instead(url: string | undefined | null): HtmlValue {
  return url ? html`it leads to ${shownUrl(url)}` : "it answers 404";
}

/** Of what is only typed, which may be no address. */
function shownUrl(url: string): Html {
  return /^https?:\/\//i.test(url) ? outward(url) : html`<span class="break">${readableUrl(url)}</span>`;
}

type Plan = {
  title: string;
  shortName: string;
  longUrl: string;
  fields: PlannedFields;
  /** Milliseconds since 1970: rules that don't hold then leave theirs to the link. */
  now: number;
  /** Of its QR code. */
  image?: string | undefined;
  /** Clicks of people, where the link has a limit of them. */
  used?: number | undefined;
};

export function planCard({ title, shortName, longUrl, fields, now, image, used }: Plan): Html {
  const { rules = [], active_from: from, max_clicks: most, tags = [] } = fields;
  const whole = rules.filter((rule) => rule !== null);
  const reach = reachOfRules(whole);
  const left = leftForLink(whole, now);
  const items = rules.map((rule, place) =>
    ruleInWords(rule, place, rule === null ? undefined : reach[whole.indexOf(rule)]),
  );
  const rest = html`<li><strong>${rules.length > 0 ? "Everybody else" : "Everybody"}</strong>: ${rules.length > 0 && `${left} % of them `}to ${longUrl ? shownUrl(longUrl) : "the address that you type"}</li>`;
  const others = [
    from && Date.parse(from) > now && html`Until ${time(from)} it answers 404`,
    ...[WORDS.schedule, WORDS.limit, WORDS.password, WORDS.redirect].flatMap((words) => words(fields)),
    most !== undefined && used !== undefined && usedOf(used, most),
  ].filter(Boolean);
  const about = html`<p class="break"><strong>${ownDirection(fields.title || shortName)}</strong>${fields.title && html`<br>${shortName}`}</p>
${(tags?.length ?? 0) > 0 && html`<p class="actions">${tags?.map((tag) => tagLink(tag))}</p>`}`;
  const body = html`<div class="stack">${image && html`<img class="qr" src="${image}" width="160" alt="QR code of the link">`}${about}
<ul class="timeline">${items}${rest}${others.map((words) => html`<li>${words}</li>`)}</ul></div>`;
  return html`<div id="link-plan">${card(title, body)}</div>`;
}

function ruleInWords(rule: LinkRule | null, place: number, reach: Reach | undefined): Html {
  if (rule === null || reach === undefined)
    return html`<li><strong>${letterOf(place)}</strong>: not complete yet</li>`;
  const { name, url, when: conditions } = shownRule(rule);
  const { share: _, ...when } = conditions;
  const whom = Object.keys(when).length > 0 && html` (${clauseInWords(conditionsInWords(when))})`;
  return html`<li><strong>${ownDirection(name ?? letterOf(place))}</strong>: ${reachInWords(reach)} of visitors${whom} to ${shownUrl(url)}</li>`;
}

function reachInWords({ least, most }: Reach): string {
  if (most === 0) return "none, as rules before it take all,";
  if (least === 100) return "100 %";
  return least === most ? `${most} %` : `${least} to ${most} %`;
}
