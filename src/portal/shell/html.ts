// Template tag for HTML: every value is escaped (ghtml), except results of the tag itself.
import { html as ghtml } from "ghtml";

const MARKUP = Symbol("markup");

/** Whether whoever reads the page may send a form to this path. */
type IsOffered = (action: string) => boolean;

/** Escaped markup, as its reader gets it. Input can't forge it, because parsed JSON has no symbol keys. */
export type Html = { readonly [MARKUP]: (isOffered: IsOffered) => string };

/** Template values; `false`, `null` and `undefined` render as nothing, arrays are concatenated. */
export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[];

export function html(literals: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return {
    [MARKUP](isOffered) {
      let text = literals[0] ?? "";
      values.forEach((value, index) => {
        text += textOf(value, isOffered) + (literals[index + 1] ?? "");
      });
      return text;
    },
  };
}

/** `markup` for who may send a form to `action`, `otherwise` for others. */
export function offered(action: string, markup: HtmlValue, otherwise: HtmlValue = ""): Html {
  return { [MARKUP]: (isOffered) => textOf(isOffered(action) ? markup : otherwise, isOffered) };
}

/** `whole`, such as a form's card, unless its reader may send none of the forms in `part`, and nothing else is in there. */
export function around(part: Html, whole: Html): Html {
  return {
    [MARKUP]: (isOffered) => (htmlText(part, isOffered).trim() === "" ? "" : textOf(whole, isOffered)),
  };
}

export function isHtml(value: object): value is Html {
  return MARKUP in value;
}

const FORM = /<form\b[^>]*\bmethod="post"[^>]*>.*?<\/form>/gs;

/** A menu or card of which no more than the name is left. */
const EMPTY =
  /<(details)\b[^>]*><summary\b(?:(?!<\/summary>).)*<\/summary>\s*(?:<div\b[^>]*>\s*<\/div>)?\s*<\/\1>|<(section)\b[^>]*><h2>(?:(?!<\/h2>).)*<\/h2>\s*<\/\2>/gs;

/**
 * The markup as text, for response bodies, without forms that its reader may not send, and what held nothing else; by default
 * they may send each.
 */
export function htmlText(value: Html, isOffered?: IsOffered): string {
  if (!isOffered) return value[MARKUP](() => true);
  const text = value[MARKUP](isOffered);
  const left = text.replace(FORM, (form) => {
    const [, action] = /^[^>]*\baction="([^"?#]*)/.exec(form) ?? [];
    return action === undefined || isOffered(action) ? form : "";
  });
  return left === text ? text : left.replace(EMPTY, "");
}

function textOf(value: HtmlValue, isOffered: IsOffered): string {
  if (value === false || value === null || value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return ghtml`${value}`;
  return MARKUP in value ? value[MARKUP](isOffered) : value.map((each) => textOf(each, isOffered)).join("");
}
