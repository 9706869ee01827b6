// What a link carries besides its destination, in words: as facts, and in its history.
import {
  type FieldKind,
  type FieldName,
  fieldRow,
  fieldsOf,
} from "../../commands/links/fields/link-fields.ts";
import type { ShownRule } from "../../commands/links/fields/rule-fields.ts";
import type { LinkOptions } from "../../events/link-options.ts";
import type { Clause } from "../../queries/links/clause.ts";
import { conditionsInWords } from "../../queries/links/rule-sentences.ts";
import { type Reach, reachOfRules } from "../../redirect/rules/reach.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { facts, time } from "../shell/parts.ts";
import { count, counted, outward, tagLink } from "./link-view.ts";

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

/** Characters: a page has up to a hundred changes, each with twenty rules before and after it. */
const LONGEST_LINK_IN_HISTORY = 300;

/** A change of a link's history. */
export function clauseInWords(clause: Clause): Html {
  const words = clause.map((part) => {
    if (typeof part === "string") return part;
    const { kind, value } = part;
    if (kind === "url" && String(value).length > LONGEST_LINK_IN_HISTORY) return ownDirection(String(value));
    const shown = WORDS[kind](value as never);
    return kind === "text" || kind === "lines" ? html`“${shown}”` : shown;
  });
  return html`${words}`;
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
  rules: rulesInWords,
};

/** A text whose letters may run from right to left, without an effect on those around it. */
function ownDirection(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** Each with whom it gets. */
function rulesInWords(rules: readonly ShownRule[]): Html {
  const reach = reachOfRules(
    rules.map(({ when: { query, ...when } }) => ({
      when: query ? { ...when, query: Object.entries(query) } : when,
    })),
  );
  const item = ({ name, when: { share: _, ...when }, url }: ShownRule, index: number) =>
    html`<li>${name !== undefined && html`<strong>${ownDirection(name)}</strong>: `}${reachInWords(reach[index])}${Object.keys(when).length > 0 && html` of ${clauseInWords(conditionsInWords(when))}`} to ${outward(url)}</li>`;
  return html`<ol class="rules">${rules.map(item)}</ol>`;
}

export function reachInWords({ least, most }: Reach = { least: 100, most: 100 }): string {
  if (most === 0) return "nobody, as the rules before take all,";
  if (least === 100) return "all visitors";
  return least === most ? `${most} % of visitors` : `${least} to ${most} % of visitors`;
}
