// What a link carries besides its destination, as texts of a form: as they are shown, and read as they were typed.
// Inputs have the names that the API has, with the path of those of a rule, such as `rules.0.when.os`.
import { OUR_WORDS } from "../../commands/issue-sentence.ts";
import { utc } from "../../commands/links/fields/field-schemas.ts";
import {
  FIELD_NAMES,
  type FieldKind,
  type FieldName,
  fieldRow,
  fieldsOf,
  LinkFields,
} from "../../commands/links/fields/link-fields.ts";
import { acceptedConditions } from "../../commands/links/fields/rule-fields.ts";
import { Refused } from "../../commands/refusals.ts";
import { commaSeparated } from "../../config/formats.ts";
import type { LinkOptions, LinkRule, RuleConditions } from "../../events/link-options.ts";
import { DEVICE_TYPES } from "../../events/vocabulary.ts";
import { CONDITION_LABELS, CONDITION_NAMES } from "../../queries/links/rule-sentences.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { typedUrl } from "./urls.ts";

/** `id`: hidden, so that a rule that is edited stays the same. */
type RuleInput = keyof RuleConditions | "id" | "name" | "url";
/** Empty texts for what isn't set. */
export type TypedRule = Readonly<Record<RuleInput, string>>;

/** Empty texts for what isn't set; absent where the form had no such input, or a disabled one. */
export type TypedFields = {
  readonly [F in FieldName]?: F extends "rules" ? readonly TypedRule[] : string;
} & {
  /** Whether the box that removes the password is ticked. */
  readonly removesPassword?: boolean;
};

/** Why fields are refused, by their names. */
export type FieldErrors = Readonly<Record<string, string>>;

export const RULE_LABELS: Readonly<Record<Exclude<RuleInput, "id">, string>> = {
  name: "Name",
  ...CONDITION_LABELS,
  url: "Leads to",
};

/** `shown`: a value that is set; `read`: what is typed, for the schema of the field. */
type Form = { shown: (value: never) => string; read: (text: string) => unknown };

const text: Form = { shown: String, read: (typed) => typed };
const number: Form = { shown: String, read: Number };
const url: Form = { shown: String, read: typedUrl };
/** As the API has it, where `true` is the destination's. */
const forwarding: Form = {
  shown: (winner: true | "visitor") => (winner === true ? "destination" : winner),
  read: (typed) => (typed === "destination" ? true : typed),
};
const list: Form = {
  shown: (values: readonly string[]) => values.join(", "),
  read: commaSeparated,
};
/** As a `datetime-local` has it, in UTC. */
const time: Form = { shown: (at: string) => at.replace(/(:00)?\.000Z$|Z$/, ""), read: (typed) => typed };
/** Boxes, in the order in which browsers send them. */
const devices: Form = {
  ...list,
  shown: (values: readonly string[]) => DEVICE_TYPES.filter((type) => values.includes(type)).join(", "),
};
/** A line for each parameter; percent codes for what would be read otherwise. */
const parameters: Form = {
  shown: (query: NonNullable<RuleConditions["query"]>) =>
    query
      .map(([name, value]) => `${coded(name, /[%=\s]/g)}=${value === true ? "*" : codedValue(value)}`)
      .join("\n"),
  read: (typed) => {
    const lines = typed.split("\n").filter((line) => line.trim() !== "");
    const pairs = lines.map((line) => {
      const [name = "", ...rest] = line.trim().split("=");
      const value = rest.join("=");
      return [decoded(name), value === "*" ? true : decoded(value)] as const;
    });
    return Object.fromEntries(pairs);
  },
};

const FORMS: Readonly<Record<Exclude<FieldKind, "rules">, Form>> = {
  text,
  lines: text,
  list,
  time,
  url,
  count: number,
  password: text,
  code: number,
  forwarding,
};
type TextName = Exclude<FieldName, "rules">;
const TEXT_NAMES = FIELD_NAMES.filter((name): name is TextName => name !== "rules");

function formOf(name: TextName): Form {
  return FORMS[fieldRow(name).kind as keyof typeof FORMS];
}

const CONDITIONS: Readonly<Record<keyof RuleConditions, Form>> = {
  device: devices,
  os: list,
  country: list,
  language: list,
  query: parameters,
  from: time,
  to: time,
  share: number,
};

/** Name of an input. */
export function ruleInput(index: number | string, name: RuleInput): string {
  const isCondition = name in CONDITIONS;
  return isCondition ? `rules.${index}.when.${name}` : `rules.${index}.${name}`;
}

/** Of what is set; a password is never shown. */
export function shownFields(link: LinkOptions): TypedFields {
  const set: Readonly<Record<string, unknown>> = fieldsOf(link);
  return {
    ...Object.fromEntries(TEXT_NAMES.map((name) => [name, shownBy(formOf(name), set[name])])),
    rules: (link.rules ?? []).map(({ id = "", name = "", when, url }) => ({
      id,
      name,
      url,
      ...eachCondition((condition) => shownBy(CONDITIONS[condition], when[condition])),
    })),
  };
}

function shownBy({ shown }: Form, value: unknown): string {
  return value === undefined ? "" : shown(value as never).trim();
}

/** Of a form that was sent, without the rules that are empty, unless they are kept. */
export function typedFields(sent: RefusedForm["typed"], keepsEmptyRules = false): TypedFields {
  const textOf = (name: string) =>
    [sent[name] ?? []]
      .flat()
      .map((value) => String(value).replaceAll("\r\n", "\n").trim())
      .filter(Boolean)
      .join(", ");
  const numbers = Object.keys(sent).flatMap((name) => /^rules\.(\d{1,2})\./.exec(name)?.[1] ?? []);
  const rules = [...new Set(numbers)]
    .sort((a, b) => Number(a) - Number(b))
    .map((index) => {
      const of = (name: RuleInput) => textOf(ruleInput(index, name));
      return { id: of("id"), name: of("name"), url: of("url"), ...eachCondition(of) };
    })
    .filter(({ id: _, ...rule }) => keepsEmptyRules || Object.values(rule).some(Boolean));
  return {
    ...Object.fromEntries(TEXT_NAMES.filter((name) => name in sent).map((name) => [name, textOf(name)])),
    // The name alone is sent besides, so that a form without rules any more is told from one without inputs for them.
    ...((numbers.length > 0 || "rules" in sent) && { rules }),
    removesPassword: textOf("remove_password") !== "",
  };
}

function eachCondition(textOf: (name: keyof RuleConditions) => string) {
  return Object.fromEntries(CONDITION_NAMES.map((name) => [name, textOf(name)])) as Record<
    keyof RuleConditions,
    string
  >;
}

/**
 * Those that are typed otherwise than they were shown, so that the others are neither checked again nor in need of
 * a plan; null for one that is cleared. @throws invalid_request with the field's name
 */
export function editedFields(typed: TypedFields, shown: TypedFields): LinkFields {
  const { data, error } = LinkFields.safeParse(readFields(typed, shown), OUR_WORDS);
  if (data) return data;
  const [{ path, message } = { path: [], message: "" }] = error?.issues ?? [];
  throw new Refused("invalid_request", sentence(message), { field: path.join(".") });
}

function readFields(typed: TypedFields, shown: TypedFields): Readonly<Record<string, unknown>> {
  const read = Object.fromEntries(touched(typed, shown).map((name) => [name, readField(typed, name)]));
  return typed.removesPassword ? { password: null, ...read } : read;
}

/** Fields that the form had and that no longer stand there as they were shown. */
function touched(typed: TypedFields, shown: TypedFields): FieldName[] {
  return FIELD_NAMES.filter(
    (name) => typed[name] !== undefined && JSON.stringify(typed[name]) !== JSON.stringify(shown[name]),
  );
}

function readField(typed: TypedFields, name: FieldName): unknown {
  if (name === "rules") return typed.rules?.length ? typed.rules.map(readRule) : null;
  return typed[name] ? formOf(name).read(typed[name]) : null;
}

function readRule(rule: TypedRule) {
  const names = CONDITION_NAMES.filter((name) => rule[name] !== "");
  const when = Object.fromEntries(names.map((name) => [name, CONDITIONS[name].read(rule[name])]));
  return {
    ...(rule.id && { id: rule.id }),
    ...(rule.name && { name: rule.name }),
    when,
    url: typedUrl(rule.url),
  };
}

/** Fields as answers have them, of a link or of a form, and rules as events have them; null for one that can't be read yet. */
export type PlannedFields = Omit<ReturnType<typeof fieldsOf>, "rules"> & {
  rules?: readonly (LinkRule | null)[] | undefined;
};

/** What is typed, as far as it can be read; whatever would be refused is left out. */
export function readableFields(typed: TypedFields): PlannedFields {
  const fields = TEXT_NAMES.filter((name) => typed[name]).flatMap((name) => {
    const { success, data } = LinkFields.shape[name].safeParse(readField(typed, name));
    if (!success) return [];
    if (name === "password") return [["has_password", true]];
    return [[name, fieldRow(name).kind === "time" ? utc(String(data)) : data]];
  });
  const rules = typed.rules?.map((rule) => {
    const [read] = LinkFields.shape.rules.safeParse([readRule(rule)]).data ?? [];
    return read && read.url !== "" ? ({ ...read, when: acceptedConditions(read.when) } as LinkRule) : null;
  });
  return { ...Object.fromEntries(fields), ...(rules?.length && { rules }) };
}

/** What the buttons beside rules do, by the value that they send as `act`: `add`, or one of these and a rule's place. */
const RULE_MOVES = { up: -1, down: 1 } as const;

/** The rules after the act, and the place of the one that it was about; nothing is changed by what is none. */
export function actOnRules(
  rules: readonly TypedRule[],
  act: string,
): { rules: readonly TypedRule[]; at: number | undefined } {
  if (act === "add") return { rules: [...rules, EMPTY_RULE], at: rules.length };
  const [, name = "", place = ""] = /^(remove|up|down)\.(\d{1,2})$/.exec(act) ?? [];
  const at = Number(place);
  const rule = rules[at];
  if (name === "" || rule === undefined) return { rules, at: undefined };
  const others = rules.toSpliced(at, 1);
  if (name === "remove") return { rules: others, at: Math.min(at, others.length - 1) };
  const to = Math.max(0, Math.min(others.length, at + RULE_MOVES[name as keyof typeof RULE_MOVES]));
  return { rules: others.toSpliced(to, 0, rule), at: to };
}

const EMPTY_RULE: TypedRule = { id: "", name: "", url: "", ...eachCondition(() => "") };

/**
 * What stands in the form again: of a field that was changed what was typed, of any other what the link carries `now`.
 * `before`: what the form showed.
 */
export function typedAgain(typed: TypedFields, before: TypedFields, now: TypedFields): TypedFields {
  const kept = touched(typed, before).map((name) => [name, typed[name]]);
  return { ...typed, ...now, ...Object.fromEntries(kept) };
}

/** Whether it is one of these fields, or within one, that was refused. */
export function isLinkField(name = ""): boolean {
  return isFieldName(name.split(".", 1)[0] ?? "");
}

/** All that is wrong with the form that was refused. */
export function fieldErrors({ typed, field, message }: RefusedForm, shown: TypedFields): FieldErrors {
  const { error } = LinkFields.safeParse(readFields(typedFields(typed), shown), OUR_WORDS);
  const wrong = error?.issues.map((issue) => [issue.path.join("."), sentence(issue.message)]) ?? [];
  return {
    ...Object.fromEntries(wrong.reverse()),
    ...(field !== undefined && {
      [field]: inWords(message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message),
    }),
  };
}

/** Schemas say what a value must be. */
function sentence(message: string): string {
  return `It ${message}.`;
}

/** Names of the API are those of no input. */
function inWords(message: string): string {
  return message.replace(/\b[a-z]+_[a-z]+\b/g, (name) => (isFieldName(name) ? fieldRow(name).label : name));
}

function isFieldName(name: string): name is FieldName {
  return (FIELD_NAMES as readonly string[]).includes(name);
}

function coded(part: string, chars: RegExp): string {
  return part.replace(chars, encodeURIComponent);
}

function codedValue(value: string): string {
  return value === "*" ? "%2A" : coded(value, /[%\s]/g);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
