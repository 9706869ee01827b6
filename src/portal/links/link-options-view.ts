// What a link carries besides its destination, in words: as facts, and as changes in its history.
import { FIELD_NAMES, OPTION_OF_FIELD } from "../../commands/links/link-fields.ts";
import {
  type LinkOptions,
  type LinkRule,
  type OptionChanges,
  optionsOf,
  type RuleConditions,
} from "../../events/link-options.ts";
import { time } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { facts } from "../shell/parts.ts";
import { count, outward } from "./link-view.ts";
import { CONDITION_LABELS, CONDITION_NAMES, LABELS } from "./typed-fields.ts";

/** Nothing for a link that carries none. */
export function optionFacts(link: LinkOptions): Html | false {
  const options = optionsOf(link);
  const set = FIELD_NAMES.filter((name) => options[OPTION_OF_FIELD[name]] !== undefined);
  if (set.length === 0) return false;
  return facts(Object.fromEntries(set.map((name) => [LABELS[name], WORDS[OPTION_OF_FIELD[name]](options)])));
}

/** What changed, from what to what. */
export function optionChanges({ from, to }: Readonly<Record<"from" | "to", OptionChanges>>): HtmlValue {
  const changed = FIELD_NAMES.filter((name) => to[OPTION_OF_FIELD[name]] !== undefined);
  return changed.map((name) => {
    const option = OPTION_OF_FIELD[name];
    const words = (options: OptionChanges) =>
      (options[option] ?? null) === null ? "none" : WORDS[option](options as LinkOptions);
    const isReplaced = name === "password" && from.passwordId && to.passwordId;
    const what = isReplaced ? "replaced" : html`from ${words(from)} to ${words(to)}`;
    return html`<div class="small break">${LABELS[name]}: ${what}</div>`;
  });
}

/** Of an option that is set. */
const WORDS: Readonly<Record<keyof LinkOptions, (options: LinkOptions) => HtmlValue>> = {
  title: ({ title }) => title,
  comments: ({ comments = "" }) => comments.split("\n").map((line, n) => html`${n > 0 && html`<br>`}${line}`),
  tags: ({ tags = [] }) => tags.join(", "),
  externalId: ({ externalId }) => externalId,
  activeFrom: ({ activeFrom = "" }) => time(activeFrom),
  expiresAt: ({ expiresAt = "" }) => time(expiresAt),
  expiredUrl: ({ expiredUrl = "" }) => outward(expiredUrl),
  maxClicks: ({ maxClicks = 0 }) => count(maxClicks),
  passwordId: () => "set",
  redirectCode: ({ redirectCode }) => redirectCode,
  forwardQuery: () => "yes",
  rules: ({ rules = [] }) => html`<ol class="rules">${rules.map(ruleInWords)}</ol>`,
};

function ruleInWords({ when, url }: LinkRule): Html {
  const given = CONDITION_NAMES.filter((name) => when[name] !== undefined);
  return html`<li>${given.map((name, n) => html`${n > 0 && " · "}${conditionInWords(name, when)}`)}${outward(url)}</li>`;
}

function conditionInWords(name: keyof RuleConditions, when: RuleConditions): HtmlValue {
  const { query = {}, from = "", to = "", share } = when;
  if (name === "from" || name === "to")
    return html`${CONDITION_LABELS[name]} ${time(name === "from" ? from : to)}`;
  if (name === "share") return `${share} % of visitors`;
  const values =
    name === "query"
      ? Object.entries(query).map(([parameter, value]) => `${parameter}=${value === true ? "any" : value}`)
      : when[name];
  return `${CONDITION_LABELS[name]}: ${values?.join(", ")}`;
}
