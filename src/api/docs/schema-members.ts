// JSON schemas as a reader wants them: each member by its whole name, with what it is and what it may be.
import { html } from "ghtml";

export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export type Member = { name: string; isRequired: boolean; schema: Schema; description?: string | undefined };

/** The members of an object and of the objects in it, such as `links[].url`; of another schema one without a name. */
export function membersOf(schema: Schema, name = ""): Member[] {
  const { properties, required = [], items, additionalProperties } = schema;
  if (properties)
    return Object.entries(properties).flatMap(([key, member]) => {
      const path = name === "" ? key : `${name}.${key}`;
      const own = { name: path, isRequired: required.includes(key), schema: member };
      return [own, ...membersOf(member, path).filter((inner) => inner.name !== path)];
    });
  if (items) return membersOf(items, `${name}[]`).filter((inner) => inner.name !== `${name}[]`);
  if (typeof additionalProperties === "object")
    return membersOf(additionalProperties, `${name}.*`).filter((inner) => inner.name !== `${name}.*`);
  return [{ name, isRequired: false, schema }];
}

export function memberList(members: readonly Member[]): string {
  return html`<dl class="members">!${members.map(
    ({ name, isRequired, schema, description = schema.description }) =>
      html`<div><dt><code>${name}</code> <span>!${typeOf(schema)}!${limitsOf(schema)}</span>!${isRequired ? " <b>required</b>" : ""}</dt>
<dd>!${prose(description ?? "")}!${exampleOf(schema)}</dd></div>`,
  )}</dl>`;
}

/** Text with `code`, **weight**, [links](/docs) and paragraphs. */
export function prose(text: string): string {
  const paragraphs = text.split(/\n\n+/).filter((paragraph) => paragraph !== "");
  return paragraphs.map((paragraph) => html`<p>!${inline(paragraph)}</p>`).join("");
}

export function inline(text: string): string {
  const parts = /`([^`]*)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)|[^`[*]+|./gs;
  return text.replace(parts, (part, code, strong, words, address) => {
    if (code !== undefined) return html`<code>${code}</code>`;
    if (strong !== undefined) return html`<strong>${strong}</strong>`;
    return address === undefined ? html`${part}` : html`<a href="${address}">${words}</a>`;
  });
}

/** With links to the schemas that have names. */
export function typeOf(schema: Schema): string {
  const { $ref, type, format, items, additionalProperties, enum: values, const: constant } = schema;
  if ($ref) {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return html`<a href="${schemaAddress(name)}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(" or ");
  if (values) return values.map((value) => html`<code>${String(value)}</code>`).join(", ");
  if (constant !== undefined) return html`<code>${String(constant)}</code>`;
  if (items) return `list of ${typeOf(items)}`;
  if (typeof additionalProperties === "object")
    return `object with any names, of ${typeOf(additionalProperties)}`;
  return html`${[type ?? "anything"].flat().join(" or ")}${format ? ` (${format})` : ""}`;
}

function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, default: preset } = schema;
  const between = (least: number | undefined, most: number | undefined, unit: string) =>
    most === undefined
      ? least === undefined || least === 0
        ? []
        : [`at least ${least}${unit}`]
      : [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
  const limits = [
    ...between(minimum, maximum, ""),
    ...between(minLength, maxLength, " characters"),
    ...between(minItems, maxItems, " items"),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
  ];
  return html`${limits.map((limit) => `, ${limit}`).join("")}`;
}

function exampleOf({ examples }: Schema): string {
  const [example] = examples ?? [];
  if (example === undefined) return "";
  const text = typeof example === "string" ? example : JSON.stringify(example);
  return html`<p class="example">Such as <code>${text}</code></p>`;
}

/** Schemas of events are many: they have a page of their own. */
export function schemaPage(name: string): "objects" | "event-types" {
  return /^\w+(Data|Event)$/.test(name) ? "event-types" : "objects";
}

function schemaAddress(name: string): string {
  return `/docs/${schemaPage(name)}#schema-${name}`;
}
