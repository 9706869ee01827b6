// The one form that makes and edits a link: what is often set in sight, all else behind switches that say what is set; and
// rules, which buttons add, move and remove while nothing is saved.
import {
  FIELD_NAMES,
  type FieldGroup,
  type FieldName,
  fieldRow,
} from "../../commands/links/fields/link-fields.ts";
import { OPTION_LIMITS as MOST, REDIRECT_CODES } from "../../events/link-options.ts";
import { DEVICE_TYPES, hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { attribute, type DrawnField, errorText, type Field, field, hiddenFields } from "../shell/controls.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { groupInWords, letterOf } from "./link-plan.ts";
import { LONGEST_URL } from "./link-view.ts";
import {
  type FieldErrors,
  type PlannedFields,
  RULE_LABELS,
  ruleInput,
  type TypedFields,
  type TypedRule,
} from "./typed-fields.ts";
import { readableUrl } from "./urls.ts";
import { type KnownUtm, type Utm, utmFields } from "./utm-fields.ts";

/** Of the forms with these inputs: as the API's, so that whatever it takes can be edited. */
export const FIELDS_FORM_BYTES = 1_048_576;

const PICKED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?)?$/;

type LinkForm = {
  id?: string;
  action: string;
  hidden: Readonly<Record<string, string>>;
  tier: Tier;
  url: string;
  /** Below the destination. */
  hint?: string;
  /** Where the link is to be, below its destination. */
  place?: HtmlValue;
  typed: TypedFields;
  /** What the link will carry, as far as it can be read. */
  planned: PlannedFields;
  errors?: FieldErrors | undefined;
  /** What the link carries already: may be cleared without the plan. */
  set?: TypedFields;
  hasPassword?: boolean;
  utm: Utm;
  knownUtm: KnownUtm;
  /** Address that shows the form as it is typed, with what a button did to it. */
  draft: string;
  /** On the button that saves it. */
  button: HtmlValue;
  /** Place of the rule that a button was about. */
  at?: number | undefined;
};

const GROUPS: readonly (readonly [Exclude<FieldGroup, "about">, title: string])[] = [
  ["schedule", "Schedule"],
  ["limit", "Limit of clicks"],
  ["password", "Password"],
  ["rules", "Rules by visitor and time"],
  ["redirect", "Redirect"],
  ["notes", "Comments and external ID"],
];
/** What follows as something is typed: what stands beside the form, and what is set behind each switch. */
export const LIVE_PARTS = [
  "link-plan",
  "slug-state",
  "set-utm",
  ...GROUPS.map(([group]) => `set-${group}`),
].join(" ");

export function linkForm(form: LinkForm): Html {
  const { id, action, hidden, tier, url, hint, place } = form;
  const { typed, planned, errors = {}, set = {}, hasPassword = false } = form;
  const mayHaveAll = hasDeveloperFeatures(tier);
  const isSet = (name: FieldName) => (name === "password" ? hasPassword : (set[name]?.length ?? 0) > 0);
  const isLocked = (name: FieldName) => !mayHaveAll && fieldRow(name).isDeveloper === true && !isSet(name);
  const controlOf = (name: FieldName) => {
    if (name === "rules") return rulesFields(form, isLocked(name));
    const drawn = { ...inputOf(name, typed[name] ?? "", hasPassword), disabled: isLocked(name) };
    const control = field({ ...drawn, name, value: typed[name] ?? "", error: errorOf(errors, name) });
    if (name !== "password" || !hasPassword) return control;
    const isRemoved = typed.removesPassword ? "1" : "";
    return html`${control}${field({ label: "Remove the password", name: "remove_password", value: isRemoved, isBox: true })}`;
  };
  const namesOf = (group: FieldGroup) => FIELD_NAMES.filter((name) => fieldRow(name).group === group);
  const groups = GROUPS.map(([group, title]) => {
    const names = namesOf(group);
    const isOpen = names.some(
      (name) => (typed[name]?.length ?? 0) > 0 || errorOf(errors, name) !== undefined,
    );
    const plan =
      names.some(isLocked) &&
      html`<p class="hint">This comes with the <a href="/portal/plan">Developer plan</a>.</p>`;
    return toggle(group, title, groupInWords(group, planned), isOpen, html`${plan}${names.map(controlOf)}`);
  });
  const campaign = Object.values(form.utm).filter(Boolean);
  return html`<form method="post" action="${action}"${attribute("id", id)} class="form" data-live="${LIVE_PARTS}">${firstButton}${hiddenFields(hidden)}${urlField(url, errors.url, hint)}
${place}${namesOf("about").map(controlOf)}
${toggle("utm", "Campaign (UTM)", campaign.join(" · "), campaign.length > 0, utmFields(form.utm, form.knownUtm))}${groups}
<p class="actions"><button class="button button-primary">${form.button}</button><button class="button" name="act" value="show" formaction="${form.draft}" formnovalidate data-part="${LIVE_PARTS}" data-stays>Show what it will be</button></p></form>`;
}

/** Pressed by Enter, as browsers press the first button of a form. */
const firstButton = html`<button class="visually-hidden" tabindex="-1" aria-hidden="true"></button>`;

export function urlField(value: string, error?: string, hint?: string): Html {
  return field({
    ...{ label: "Destination", name: "url", placeholder: "https://example.com/a/long/page" },
    ...{ required: true, maxlength: LONGEST_URL, isExact: true, value, error, hint },
  });
}

/** Opened where something behind it is set or wrong; says what is set. */
function toggle(name: string, title: string, words: HtmlValue, isOpen: boolean, body: Html): Html {
  return html`<details class="more-options" ${isOpen && html`open`}><summary>${title} <span class="muted small" id="set-${name}">${words}</span></summary>
<div class="stack">${body}</div></details>`;
}

/** By the kind of the field: nothing else is known of it here. */
function inputOf(name: Exclude<FieldName, "rules">, value: string, hasPassword: boolean): Field {
  const { kind, label, hint, most, isExact } = fieldRow(name);
  const common = { label, hint, isExact };
  switch (kind) {
    case "code":
      return { ...common, options: [["", "Default"], ...CODES] };
    case "forwarding":
      return { ...common, options: FORWARDINGS };
    case "time":
      return { ...common, ...timeInput(value), label: `${label} (UTC)` };
    case "url":
      return { ...common, isExact: true, maxlength: LONGEST_URL };
    case "count":
      return { ...common, inputmode: "numeric" };
    case "password":
      return { ...common, maxlength: most, hint: passwordHint(hasPassword) };
    case "lines":
      return { ...common, maxlength: most, rows: 3 };
    case "list":
      return common;
    default:
      return { ...common, maxlength: most };
  }
}

const CODES = REDIRECT_CODES.map((code) => [String(code), String(code)] as const);
const FORWARDINGS = [
  ["", "No"],
  ["destination", "Yes; the destination's own parameters win"],
  ["visitor", "Yes; the visitor's parameters win"],
] as const;

function passwordHint(hasPassword: boolean): string {
  return hasPassword
    ? "One is set. Type another to replace it"
    : "Visitors are asked for it: 8 characters or more";
}

function rulesFields({ typed, errors = {}, draft, at }: LinkForm, isLocked: boolean): Html {
  const rules = typed.rules ?? [];
  const button = (act: string, words: HtmlValue, label?: string) =>
    html`<button class="button button-small" name="act" value="${act}" formaction="${draft}" formnovalidate data-part="rules ${LIVE_PARTS}" data-stays${label && html` aria-label="${label}"`}>${words}</button>`;
  const rows = rules.map((rule, place) => {
    const name = rule.name || letterOf(place);
    const moves = html`<p class="actions">${place > 0 && button(`up.${place}`, "Up", `Move ${name} up`)}${place < rules.length - 1 && button(`down.${place}`, "Down", `Move ${name} down`)}${button(`remove.${place}`, "Remove", `Remove ${name}`)}</p>`;
    return ruleFields(place, rule, errors, { isAt: place === at, moves });
  });
  const error = errors.rules;
  return html`<fieldset class="stack" id="rules" aria-describedby="rules-hint${error && " rules-error"}" ${isLocked && html`disabled`}><legend class="visually-hidden">${fieldRow("rules").label}</legend>${hiddenFields({ rules: "" })}
<p class="hint" id="rules-hint">Other destinations for some visitors or times: the first rule whose conditions all fit wins.</p>
${errorText("rules-error", error)}${rows}
<p>${rules.length < MOST.rules ? button("add", html`${icon("plus")}Add a rule`) : html`<span class="hint">These are all the rules that a link can have.</span>`}</p></fieldset>`;
}

type Place = { isAt: boolean; moves: Html };

function ruleFields(index: number, rule: TypedRule, errors: FieldErrors, { isAt, moves }: Place): Html {
  const input = (name: Exclude<keyof TypedRule, "device" | "id">, more: Partial<DrawnField> = {}) => {
    const at = ruleInput(index, name);
    const error = errorOf(errors, at);
    const common = { label: RULE_LABELS[name], name: at, value: rule[name], error };
    return field({ ...common, isExact: true, ...more });
  };
  const moment = (name: "from" | "to") =>
    input(name, { ...timeInput(rule[name]), label: `${RULE_LABELS[name]} (UTC)` });
  const conditionsAt = `rules.${index}.when`;
  const error = errors[conditionsAt];
  const isWrong = Object.keys(errors).some((name) => name.startsWith(`rules.${index}.`));
  const letter = letterOf(index);
  const share = ruleInput(index, "share");
  const slider = html`<input type="range" min="1" max="100" value="${Number(rule.share) || 100}" data-number="field-${share}" aria-label="Per cent for ${letter}" hidden>`;
  return html`<details class="rule" ${(isWrong || isAt) && html`open`}><summary ${isAt && html`autofocus`}><strong>${letter}</strong> ${rule.name && html`${rule.name}: `}${rule.url ? readableUrl(rule.url) : "new"}</summary>
<fieldset class="stack" ${error && html`aria-describedby="${conditionsAt}-error"`}><legend class="visually-hidden">Rule ${letter}</legend>
${errorText(`${conditionsAt}-error`, error)}
${hiddenFields({ [ruleInput(index, "id")]: rule.id })}
${input("url", { maxlength: LONGEST_URL, placeholder: "https://example.com/app" })}
<div class="stack">${input("share", { inputmode: "decimal", hint: "Per cent of the visitors who fit; empty for all" })}${slider}</div>
${deviceFields(index, rule.device, errors)}
<div class="grid grid-small">${input("os", { placeholder: "iOS, Android" })}${input("country", { placeholder: "DE, AT" })}
${input("language", { placeholder: "de, pt-BR" })}${input("name", { isExact: false, maxlength: MOST.ruleName, placeholder: `Variant ${letter}`, hint: "For you, in analytics" })}</div>
<div class="grid grid-small">${moment("from")}${moment("to")}</div>
${input("query", { rows: 2, placeholder: "ref=shop", hint: "Of the short link, a line for each: name=value, or name=* for any" })}
${moves}</fieldset></details>`;
}

function deviceFields(index: number, devices: string, errors: FieldErrors): Html {
  const name = ruleInput(index, "device");
  const options = DEVICE_TYPES.map((type) => [type, type] as const);
  const [value, error] = [devices.split(", "), errorOf(errors, name)];
  return field({ label: RULE_LABELS.device, id: name, name, options, boxes: true, value, error });
}

/** Also of what is within it, such as one of several values. */
function errorOf(errors: FieldErrors, name: string): string | undefined {
  return Object.entries(errors).find(([at]) => at === name || at.startsWith(`${name}.`))?.[1];
}

/** A picker shows nothing for what is no time, and would send nothing. */
function timeInput(value: string): Pick<Field, "type"> {
  return { type: PICKED.test(value) ? "datetime-local" : "text" };
}
