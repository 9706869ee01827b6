// What a link carries besides its destination, in words: as facts, and as changes in its history.
import { type FieldName, fieldsOf } from "../../commands/links/link-fields.ts";
import type { LinkOptions, LinkRule, RuleConditions } from "../../events/link-options.ts";
import type { ChangedFields } from "../../queries/links/changed-fields.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { facts } from "../shell/parts.ts";
import { count, outward, tagLink } from "./link-view.ts";
import { CONDITION_LABELS, CONDITION_NAMES, LABELS } from "./typed-fields.ts";

/** Nothing for a link that carries none. */
export function fieldFacts(link: LinkOptions): Html | false {
  const set = Object.entries(fieldsOf(link));
  return (
    set.length > 0 &&
    facts(Object.fromEntries(set.map(([name, value]) => [labelOf(name), inWords(name, value)])))
  );
}

/** Besides the destination, from what to what; of a new link (`isNew`) only what it carries. */
export function fieldChanges(changes: ChangedFields, isNew: boolean): HtmlValue {
  const { url: _url, ...others } = changes;
  return Object.entries(others).map(([name, { from, to }]) => {
    const isReplaced = name === "has_password" && from === to;
    const change = isReplaced ? "replaced" : html`from ${inWords(name, from)} to ${inWords(name, to)}`;
    return html`<div class="small break">${labelOf(name)}: ${isNew ? inWords(name, to) : change}</div>`;
  });
}

function labelOf(name: string): string {
  return LABELS[fieldOf(name)];
}

/** Of the name in answers, where a password is never shown. */
function fieldOf(name: string): FieldName {
  return name === "has_password" ? "password" : (name as FieldName);
}

function inWords(name: string, value: unknown): HtmlValue {
  return value === null ? "none" : WORDS[fieldOf(name)](value as never);
}

const WORDS: Readonly<Record<FieldName, (value: never) => HtmlValue>> = {
  title: String,
  comments: (lines: string) => lines.split("\n").map((line, n) => html`${n > 0 && html`<br>`}${line}`),
  tags: (tags: string[]) => tags.map((tag, n) => html`${n > 0 && " "}${tagLink(tag)}`),
  external_id: String,
  active_from: time,
  expires_at: time,
  expired_url: outward,
  max_clicks: count,
  password: () => "set",
  redirect_code: String,
  forward_query: () => "yes",
  rules: (rules: LinkRule[]) => html`<ol class="rules">${rules.map(ruleInWords)}</ol>`,
};

function ruleInWords({ when, url }: LinkRule): Html {
  const given = CONDITION_NAMES.filter((name) => when[name] !== undefined);
  return html`<li>${given.map((name, n) => html`${n > 0 && " · "}${conditionInWords(name, when)}`)}${outward(url)}</li>`;
}

function conditionInWords(name: keyof RuleConditions, when: RuleConditions): HtmlValue {
  const { query = {}, from = "", to = "", share } = when;
  const label = CONDITION_LABELS[name];
  if (name === "from" || name === "to") return html`${label} ${time(name === "from" ? from : to)}`;
  if (name === "share") return `${share} % of visitors`;
  const values =
    name === "query"
      ? Object.entries(query).map(([parameter, value]) => `${parameter}=${value === true ? "*" : value}`)
      : when[name];
  return `${label}: ${values?.join(", ")}`;
}
