// The inputs for what a link carries besides its destination, of a new link and of one that is edited.
import {
  FIELD_NAMES,
  type FieldGroup,
  type FieldName,
  fieldRow,
} from "../../commands/links/fields/link-fields.ts";
import { OPTION_LIMITS as MOST, REDIRECT_CODES } from "../../events/link-options.ts";
import { DEVICE_TYPES, hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { CONDITION_NAMES } from "../../queries/links/rule-sentences.ts";
import { errorText, type Field, field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { LONGEST_URL } from "./link-view.ts";
import {
  type FieldErrors,
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
  /** What the link carries already: may be cleared without the plan. */
  set?: TypedFields;
  hasPassword?: boolean;
};

/** Besides what is said about a link, each opens of its own: where something of it is set, or wrong. */
const GROUPS: readonly (readonly [FieldGroup, title: string])[] = [
  ["schedule", "Schedule"],
  ["limit", "Limit of clicks"],
  ["password", "Password"],
  ["rules", "Rules by visitor and time"],
  ["redirect", "Redirect"],
];

export function linkFieldsForm(form: FieldsForm): Html {
  const { tier, typed, errors = {}, set = {}, hasPassword = false } = form;
  const mayHaveAll = hasDeveloperFeatures(tier);
  const isSet = (name: FieldName) => (name === "password" ? hasPassword : (set[name]?.length ?? 0) > 0);
  const isLocked = (name: FieldName) => !mayHaveAll && fieldRow(name).isDeveloper === true && !isSet(name);
  const controlOf = (name: FieldName) => {
    const isOff = isLocked(name);
    if (name === "rules") return rulesFields(typed.rules ?? [], errors, isOff);
    const control = fieldControl(name, typed[name] ?? "", errorOf(errors, name), { isOff, hasPassword });
    if (name !== "password" || !hasPassword) return control;
    return html`${control}${checkBox("remove_password", "Remove the password", typed.removesPassword === true)}`;
  };
  const namesOf = (group: FieldGroup) => FIELD_NAMES.filter((name) => fieldRow(name).group === group);
  const groups = GROUPS.map(([group, title]) => {
    const names = namesOf(group);
    const isOpen = names.some(
      (name) => isSet(name) || (typed[name]?.length ?? 0) > 0 || errorOf(errors, name) !== undefined,
    );
    const plan =
      names.some(isLocked) &&
      html`<p class="hint">This comes with the <a href="/portal/plan">Developer plan</a>.</p>`;
    return html`<details class="more-options" ${isOpen && html`open`}><summary>${title}</summary>
<div class="stack">${plan}${names.map(controlOf)}</div></details>`;
  });
  return html`<div class="grid"><div class="stack">${namesOf("about").map(controlOf)}</div><div class="stack">${groups}</div></div>`;
}

/** By the kind of the field: nothing else is known of it here. */
function fieldControl(
  name: Exclude<FieldName, "rules">,
  value: string,
  error: string | undefined,
  { isOff, hasPassword }: { isOff: boolean; hasPassword: boolean },
): Html {
  const { kind, label, hint, most, isExact } = fieldRow(name);
  const common = { label, name, value, error, hint, disabled: isOff, isExact, autocomplete: "off" };
  switch (kind) {
    case "code":
      return field({ ...common, options: [["", "Default"], ...CODES] });
    case "forwarding":
      return field({ ...common, options: FORWARDINGS });
    case "time":
      return field({ ...common, ...timeInput(value), label: `${label} (UTC)` });
    case "url":
      return field({ ...common, isExact: true, maxlength: LONGEST_URL });
    case "count":
      return field({ ...common, inputmode: "numeric" });
    case "password":
      return field({ ...common, maxlength: most, hint: passwordHint(hasPassword) });
    case "lines":
      return field({ ...common, maxlength: most, rows: 3 });
    case "list":
      return field(common);
    default:
      return field({ ...common, maxlength: most });
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

/** The empty one is sent where the box is not ticked. */
function checkBox(name: string, label: string, isTicked: boolean): Html {
  return html`<div><input type="hidden" name="${name}" value=""><label class="check"><input type="checkbox" name="${name}" value="1" ${isTicked && html`checked`}>${label}</label></div>`;
}

function rulesFields(rules: readonly TypedRule[], errors: FieldErrors, isLocked: boolean): Html {
  const most = Math.max(rules.length, Math.min(MOST.rules, rules.length + EMPTY_RULES));
  const rows = Array.from({ length: most }, (_, index) => ruleFields(index, rules[index], errors));
  const error = errors.rules;
  return html`<fieldset class="stack" aria-describedby="rules-hint${error && " rules-error"}" ${isLocked && html`disabled`}><legend>${fieldRow("rules").label}</legend>
<p class="hint" id="rules-hint">Other destinations for some visitors or times: the first rule whose conditions all fit wins. Emptied ones are removed; there is room for more after saving, up to ${MOST.rules}.</p>
${errorText("rules-error", error)}${rows}${shareLeft(rules)}</fieldset>`;
}

/** What shares without another condition leave, as a form without scripts can say it: of what is saved, or was sent. */
function shareLeft(rules: readonly TypedRule[]): Html | false {
  const shares = rules.filter((rule) => OTHER_CONDITIONS.every((name) => rule[name] === ""));
  const spent = shares.reduce((sum, { share }) => sum + (Number(share) || 0), 0);
  const left = Math.max(0, Math.round((100 - spent) * 100) / 100);
  return (
    spent > 0 && html`<p class="hint">${left} % of the visitors are left for the link's own destination.</p>`
  );
}

const OTHER_CONDITIONS = CONDITION_NAMES.filter((name) => name !== "share");

function ruleFields(index: number, rule: TypedRule | undefined, errors: FieldErrors): Html {
  const input = (name: Exclude<keyof TypedRule, "device" | "id">, more: Partial<Field> = {}) => {
    const at = ruleInput(index, name);
    return field({
      label: RULE_LABELS[name],
      name: at,
      value: rule?.[name] ?? "",
      error: errorOf(errors, at),
      autocomplete: "off",
      isExact: true,
      ...more,
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
${input("name", { isExact: false, maxlength: MOST.ruleName, placeholder: "Variant B", hint: "For you, in analytics" })}
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

/** Also of what is within it, such as one of several values. */
function errorOf(errors: FieldErrors, name: string): string | undefined {
  return Object.entries(errors).find(([at]) => at === name || at.startsWith(`${name}.`))?.[1];
}

/** A picker shows nothing for what is no time, and would send nothing. */
function timeInput(value: string): Pick<Field, "type"> {
  return { type: PICKED.test(value) ? "datetime-local" : "text" };
}
