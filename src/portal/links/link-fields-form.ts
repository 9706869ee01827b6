// The inputs for what a link carries besides its destination, of a new link and of one that is edited.
import { DEVELOPER_FIELDS, FIELD_NAMES, type FieldName } from "../../commands/links/link-fields.ts";
import { OPTION_LIMITS as MOST, REDIRECT_CODES } from "../../events/link-options.ts";
import { DEVICE_TYPES, hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { choice, type Field, field } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { hiddenFields } from "../shell/parts.ts";
import { LONGEST_URL } from "./link-view.ts";
import {
  type FieldErrors,
  isLinkField,
  LABELS,
  RULE_LABELS,
  ruleInput,
  type TypedFields,
  type TypedRule,
} from "./typed-fields.ts";
import { readableUrl } from "./urls.ts";

/** Of the forms with these inputs: as the API's, so that whatever it takes can be edited. */
export const FIELDS_FORM_BYTES = 1_048_576;

/** Rows for rules beyond those there are; whoever needs more saves these first. */
const EMPTY_RULES = 3;
const PICKED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?)?$/;

type FieldsForm = {
  tier: Tier;
  typed: TypedFields;
  errors?: FieldErrors;
  /** Of a form that is shown again: it is open where something is typed in it. */
  isAgain?: boolean;
  /** What the link carries already: may be cleared without the plan. */
  set?: TypedFields;
  hasPassword?: boolean;
};

export function linkFieldsForm(form: FieldsForm): Html {
  const { tier, typed, errors = {}, isAgain = false, set = {}, hasPassword = false } = form;
  const mayHaveAll = hasDeveloperFeatures(tier);
  const isSet = (name: FieldName) => (name === "password" ? hasPassword : (set[name]?.length ?? 0) > 0);
  const isLocked = (name: FieldName) => !mayHaveAll && DEVELOPER_FIELDS.includes(name) && !isSet(name);
  const input = (name: Exclude<FieldName, "rules">, more: Partial<Field> = {}) =>
    field({
      ...{ label: LABELS[name], name, value: typed[name] ?? "", error: errorOf(errors, name) },
      ...{ disabled: isLocked(name), autocomplete: "off", ...more },
    });
  const moment = (name: "active_from" | "expires_at") =>
    input(name, { ...timeInput(typed[name] ?? ""), label: `${LABELS[name]} (UTC)` });
  const isTyped = FIELD_NAMES.some((name) => (typed[name]?.length ?? 0) > 0);
  const isOpen = isAgain && (isTyped || Object.keys(errors).some(isLinkField));
  return html`<details class="more-options" ${isOpen && html`open`}><summary>More options</summary>
<div class="stack"><div class="grid grid-small">${input("title", { maxlength: MOST.title })}
${input("tags", { hint: `Separated by commas, at most ${MOST.tags}` })}</div>
${input("comments", { maxlength: MOST.comments, rows: 3 })}
<div class="grid grid-small">${input("external_id", { maxlength: MOST.externalId, hint: "Your own name for the link" })}
${choice({
  ...{ label: LABELS.redirect_code, name: "redirect_code", value: typed.redirect_code },
  error: errorOf(errors, "redirect_code"),
  options: [["", "Default"], ...REDIRECT_CODES.map((code) => [String(code), String(code)] as const)],
})}</div>
${choice({
  ...{ label: LABELS.forward_query, name: "forward_query", value: typed.forward_query },
  error: errorOf(errors, "forward_query"),
  options: [
    ["", "No"],
    ["destination", "Yes; the destination's own parameters win"],
    ["visitor", "Yes; the visitor's parameters win"],
  ],
})}
${!mayHaveAll && html`<p class="hint">What follows comes with the <a href="/portal/plan">Developer plan</a>.</p>`}
<div class="grid grid-small">${moment("active_from")}${moment("expires_at")}</div>
${input("expired_url", { maxlength: LONGEST_URL, hint: "Where it leads outside of this time and after the last click; nowhere (404) when empty" })}
<div class="grid grid-small">${input("max_clicks", { inputmode: "numeric", hint: "Of people, before it leads there" })}
${input("password", { maxlength: MOST.password, hint: passwordHint(hasPassword) })}</div>
${hasPassword && checkBox("remove_password", "Remove the password", typed.removesPassword === true)}
${rulesFields(typed.rules ?? [], errors, isLocked("rules"))}</div></details>`;
}

function passwordHint(hasPassword: boolean): string {
  return hasPassword ? "One is set. Type another to replace it" : "Visitors are asked for it";
}

/** The empty one is sent where the box is not ticked. */
function checkBox(name: string, label: string, isTicked: boolean): Html {
  return html`<div><input type="hidden" name="${name}" value=""><label class="check"><input type="checkbox" name="${name}" value="1" ${isTicked && html`checked`}>${label}</label></div>`;
}

function rulesFields(rules: readonly TypedRule[], errors: FieldErrors, isLocked: boolean): Html {
  const most = Math.max(rules.length, Math.min(MOST.rules, rules.length + EMPTY_RULES));
  const rows = Array.from({ length: most }, (_, index) => ruleFields(index, rules[index], errors));
  const error = errors.rules;
  return html`<fieldset class="stack" aria-describedby="rules-hint${error && " rules-error"}" ${isLocked && html`disabled`}><legend>${LABELS.rules}</legend>
<p class="hint" id="rules-hint">Other destinations for some visitors or times: the first rule whose conditions all fit wins. Emptied ones are removed; there is room for more after saving, up to ${MOST.rules}.</p>
${errorText("rules-error", error)}${rows}</fieldset>`;
}

function ruleFields(index: number, rule: TypedRule | undefined, errors: FieldErrors): Html {
  const input = (name: Exclude<keyof TypedRule, "device" | "id">, more: Partial<Field> = {}) => {
    const at = ruleInput(index, name);
    return field({
      ...{ label: RULE_LABELS[name], name: at, value: rule?.[name] ?? "", error: errorOf(errors, at) },
      ...{ autocomplete: "off", ...more },
    });
  };
  const moment = (name: "from" | "to") =>
    input(name, { ...timeInput(rule?.[name] ?? ""), label: `${RULE_LABELS[name]} (UTC)` });
  const conditionsAt = `rules.${index}.when`;
  const error = errors[conditionsAt];
  const isWrong = Object.keys(errors).some((name) => name.startsWith(`rules.${index}.`));
  const name = rule?.name || `Rule ${index + 1}`;
  const summary = rule ? html`${name}${rule.url && `: ${readableUrl(rule.url)}`}` : `${name}: empty`;
  return html`<details class="rule" ${isWrong && html`open`}><summary>${summary}</summary>
<fieldset class="stack" ${error && html`aria-describedby="${conditionsAt}-error"`}><legend class="visually-hidden">${name}</legend>
${errorText(`${conditionsAt}-error`, error)}
${rule?.id && hiddenFields({ [ruleInput(index, "id")]: rule.id })}
${input("name", { maxlength: MOST.ruleName, placeholder: "Variant B", hint: "For you, in analytics" })}
${deviceFields(index, rule?.device ?? "", errors)}
<div class="grid grid-small">${input("os", { placeholder: "iOS, Android" })}${input("country", { placeholder: "DE, AT" })}
${input("language", { placeholder: "de, pt-BR" })}${input("share", { inputmode: "decimal", hint: "Per cent of these visitors" })}</div>
<div class="grid grid-small">${moment("from")}${moment("to")}</div>
${input("query", { rows: 2, placeholder: "ref=shop", hint: "Of the short link, a line for each: name=value, or name=* for any" })}
${input("url", { maxlength: LONGEST_URL, placeholder: "https://example.com/app" })}</fieldset></details>`;
}

function deviceFields(index: number, given: string, errors: FieldErrors): Html {
  const name = ruleInput(index, "device");
  const error = errorOf(errors, name);
  const ticked = given.split(", ");
  const boxes = DEVICE_TYPES.map(
    (one) =>
      html`<label class="check"><input type="checkbox" name="${name}" value="${one}" ${ticked.includes(one) && html`checked`}>${one}</label>`,
  );
  return html`<fieldset class="field" ${error && html`aria-describedby="${name}-error"`}><legend>${RULE_LABELS.device}</legend><div class="actions">${boxes}</div>${errorText(`${name}-error`, error)}</fieldset>`;
}

function errorText(id: string, error: string | undefined): HtmlValue {
  return error !== undefined && html`<p class="error" id="${id}">${icon("alert")}${error}</p>`;
}

/** Also of what is within it, such as one of several values. */
function errorOf(errors: FieldErrors, name: string): string | undefined {
  return Object.entries(errors).find(([at]) => at === name || at.startsWith(`${name}.`))?.[1];
}

/** A picker shows nothing for what is no time, and would send nothing. */
function timeInput(value: string): Pick<Field, "type"> {
  return { type: PICKED.test(value) ? "datetime-local" : "text" };
}
