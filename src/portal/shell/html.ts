// Markup that can't forget to escape: text is escaped by ghtml, only what this tag made is taken as it is.
import { html as ghtml } from "ghtml";

const MARKUP = Symbol("markup");

/** Finished markup. Nothing that comes from outside can look like it: JSON has no symbols. */
export type Html = { readonly [MARKUP]: string };

/** What may stand in a template; `false`, `null` and `undefined` are nothing, lists are joined. */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[];

export function html(literals: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let text = literals[0] ?? "";
  values.forEach((value, index) => {
    text += textOf(value) + (literals[index + 1] ?? "");
  });
  return { [MARKUP]: text };
}

/** For the answer's body only. */
export function htmlText(value: Html): string {
  return value[MARKUP];
}

function textOf(value: HtmlValue): string {
  if (value === false || value === null || value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return ghtml`${value}`;
  return MARKUP in value ? value[MARKUP] : value.map(textOf).join("");
}
