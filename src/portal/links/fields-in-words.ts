// What a link carries besides its destination, in words: as facts, and in its history.
import {
  type FieldKind,
  type FieldName,
  fieldRow,
  fieldsOf,
} from "../../commands/links/fields/link-fields.ts";
import type { ShownRule } from "../../commands/links/fields/rule-fields.ts";
import type { LinkOptions, RuleConditions } from "../../events/link-options.ts";
import type { Clause } from "../../queries/links/history-sentences.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { facts } from "../shell/parts.ts";
import { count, counted, outward, tagLink } from "./link-view.ts";
import { CONDITION_NAMES, RULE_LABELS } from "./typed-fields.ts";

/** Nothing for a link that carries none. `used`: clicks of people, where the link has a limit of them. */
export function fieldFacts(link: LinkOptions, used: number | undefined): Html | false {
  const set = Object.entries(fieldsOf(link));
  const wordsOf = (name: string, value: unknown) =>
    name === "max_clicks" && used !== undefined ? usedOf(used, value as number) : inWords(name, value);
  return (
    set.length > 0 &&
    facts(Object.fromEntries(set.map(([name, value]) => [labelOf(name), wordsOf(name, value)])))
  );
}

/** Such as `2 of 2 clicks used`; other processes may have let a few more in. */
export function usedOf(used: number, most: number): string {
  return `${count(Math.min(used, most))} of ${counted(most, "click")} used`;
}

/** Characters of JSON: a page has up to a hundred changes, each with the rules before and after it. */
const LONGEST_RULES_IN_HISTORY = 5000;

/** A change of a link's history; rules may be many: they are folded. */
export function clauseInWords(clause: Clause): Html {
  const words = clause.map((part) => {
    if (typeof part === "string") return part;
    const { field, value } = part;
    if (field === "url") return outward(String(value));
    if (field === "rules") return foldedRules(value as ShownRule[]);
    const isText = ["text", "lines"].includes(fieldRow(fieldOf(field)).kind);
    return isText ? html`“${inWords(field, value)}”` : inWords(field, value);
  });
  return html`${words}`;
}

function foldedRules(rules: readonly ShownRule[]): Html {
  return html`<details class="more"><summary>${counted(rules.length, "rule")}</summary>${rulesInHistory("rules", rules)}</details>`;
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
