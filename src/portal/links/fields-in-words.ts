// What links carry, in words, on their pages and in their history.
import type { Clause, ValueKind } from "../../queries/links/rule-sentences.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { time } from "../shell/layout.ts";
import { count, counted, outward, tagLink } from "./link-view.ts";

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

const WORDS: Readonly<Record<ValueKind, (value: never) => HtmlValue>> = {
  text: ownDirection,
  lines: (lines: string) =>
    lines.split("\n").map((line, n) => html`${n > 0 && html`<br>`}${ownDirection(line)}`),
  list: (tags: string[]) => tags.map((tag, n) => html`${n > 0 && " "}${tagLink(tag)}`),
  time,
  url: outward,
  count,
  code: String,
  forwarding: (winner: true | "visitor") =>
    winner === "visitor" ? "yes, the visitor's parameters win" : "yes",
};

/** A text whose letters may run from right to left, without an effect on those around it. */
export function ownDirection(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}
