// What a link carries besides its destination, in words: as facts, and as changes in its history.
import {
  type FieldKind,
  type FieldName,
  fieldRow,
  fieldsOf,
} from "../../commands/links/fields/link-fields.ts";
import type { ShownRule } from "../../commands/links/fields/rule-fields.ts";
import type { LinkOptions, RuleConditions } from "../../events/link-options.ts";
import type { ChangedFields } from "../../queries/links/changed-fields.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { facts } from "../shell/parts.ts";
import { count, outward, tagLink } from "./link-view.ts";
import { CONDITION_NAMES, RULE_LABELS } from "./typed-fields.ts";

/** Nothing for a link that carries none. */
export function fieldFacts(link: LinkOptions): Html | false {
  const set = Object.entries(fieldsOf(link));
  return (
    set.length > 0 &&
    facts(Object.fromEntries(set.map(([name, value]) => [labelOf(name), inWords(name, value)])))
  );
}

/** Characters of JSON: a page has up to a hundred changes, each with the rules before and after it. */
const LONGEST_RULES_IN_HISTORY = 5000;

/**
 * Besides the destination, from what to what; of a new link (`isNew`) only what it carries. Rules may be many: they are
 * folded.
 */
export function fieldChanges({ url: _url, rules, ...others }: ChangedFields, isNew: boolean): Html {
  const change = (name: string, { from, to }: ChangedFields[string]) => {
    const words = name === "rules" ? rulesInHistory : inWords;
    if (isNew) return words(name, to);
    const isReplaced = name === "has_password" && from === to;
    return isReplaced ? "replaced" : html`from ${words(name, from)} to ${words(name, to)}`;
  };
  const lines = Object.entries(others).map(
    ([name, one]) => html`<div class="small break">${labelOf(name)}: ${change(name, one)}</div>`,
  );
  const folded =
    rules &&
    html`<details class="more small"><summary>${labelOf("rules")}${!isNew && " changed"}</summary><div class="break">${change("rules", rules)}</div></details>`;
  return html`${lines}${folded}`;
}

function rulesInHistory(name: string, rules: unknown): HtmlValue {
  const isLong = JSON.stringify(rules).length > LONGEST_RULES_IN_HISTORY;
  return isLong
    ? `${(rules as ShownRule[]).length} rules that are too long for this page`
    : inWords(name, rules);
}

function labelOf(name: string): string {
  return fieldRow(fieldOf(name)).label;
}

/** Of the name in answers, where a password is never shown. */
function fieldOf(name: string): FieldName {
  return name === "has_password" ? "password" : (name as FieldName);
}

function inWords(name: string, value: unknown): HtmlValue {
  return value === null ? "none" : WORDS[fieldRow(fieldOf(name)).kind](value as never);
}

const WORDS: Readonly<Record<FieldKind, (value: never) => HtmlValue>> = {
  text: ownDirection,
  lines: (lines: string) =>
    lines.split("\n").map((line, n) => html`${n > 0 && html`<br>`}${ownDirection(line)}`),
  list: (tags: string[]) => tags.map((tag, n) => html`${n > 0 && " "}${tagLink(tag)}`),
  time,
  url: outward,
  count,
  password: () => "set",
  code: String,
  forwarding: (winner: true | "visitor") =>
    winner === "visitor" ? "yes, the visitor's parameters win" : "yes",
  rules: (rules: ShownRule[]) => html`<ol class="rules">${rules.map(ruleInWords)}</ol>`,
};

/** A text whose letters may run from right to left, without an effect on those around it. */
function ownDirection(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

function ruleInWords({ name: called, when, url }: ShownRule): Html {
  const given = CONDITION_NAMES.filter((name) => when[name] !== undefined);
  return html`<li>${called !== undefined && html`<strong>${ownDirection(called)}</strong>: `}${given.map((name, n) => html`${n > 0 && " · "}${conditionInWords(name, when)}`)}${outward(url)}</li>`;
}

function conditionInWords(name: keyof RuleConditions, when: ShownRule["when"]): HtmlValue {
  const { query = {}, from = "", to = "", share } = when;
  const label = RULE_LABELS[name];
  if (name === "from" || name === "to") return html`${label} ${time(name === "from" ? from : to)}`;
  if (name === "share") return `${share} % of visitors`;
  const values =
    name === "query"
      ? Object.entries(query).map(([parameter, value]) => `${parameter}=${value === true ? "*" : value}`)
      : when[name];
  return `${label}: ${values?.join(", ")}`;
}
