// Template tag for HTML: every value is escaped (ghtml), except results of the tag itself.
import { html as ghtml } from "ghtml";

const MARKUP = Symbol("markup");

/** Escaped markup. Input can't forge it, because parsed JSON has no symbol keys. */
export type Html = { readonly [MARKUP]: string };

/** Template values; `false`, `null` and `undefined` render as nothing, arrays are concatenated. */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[];

export function html(literals: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let text = literals[0] ?? "";
  values.forEach((value, index) => {
    text += textOf(value) + (literals[index + 1] ?? "");
  });
  return { [MARKUP]: text };
}

export function isHtml(value: object): value is Html {
  return MARKUP in value;
}

/** The markup as text, for response bodies. */
export function htmlText(value: Html): string {
  return value[MARKUP];
}

function textOf(value: HtmlValue): string {
  if (value === false || value === null || value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return ghtml`${value}`;
  return MARKUP in value ? value[MARKUP] : value.map(textOf).join("");
}
