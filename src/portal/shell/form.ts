// Form parts: labelled fields with hint and error, linked for screen readers.
import { hash } from "node:crypto";
import { z } from "zod";
import { type Html, type HtmlValue, html, htmlText } from "./html.ts";
import { icon } from "./icons.ts";

export type Field = {
  /** Unique on the page; derived from the name by default. */
  id?: string | undefined;
  label: string;
  name: string;
  type?:
    | "text"
    | "email"
    | "password"
    | "url"
    | "search"
    | "number"
    | "color"
    | "date"
    | "datetime-local"
    | undefined;
  value?: string | undefined;
  autocomplete?: string | undefined;
  placeholder?: string | undefined;
  hint?: string | Html | undefined;
  /** Why the submitted value was refused. */
  error?: string | undefined;
  required?: boolean | undefined;
  minlength?: number | undefined;
  maxlength?: number | undefined;
  /** Of a number. */
  min?: number | undefined;
  max?: number | undefined;
  autofocus?: boolean | undefined;
  disabled?: boolean | undefined;
  /** Typed as it is: phones put no capital before it, correct nothing, and no spell checker gets to read it. */
  isExact?: boolean | undefined;
  inputmode?: "numeric" | "decimal" | undefined;
  /** Of a text of several lines. */
  rows?: number | undefined;
};

export function field(options: Field): Html {
  const { label, name, type = "text", value, hint, error, rows } = options;
  const id = options.id ?? `field-${name}`;
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  const attributes = html`
${options.autocomplete ? html`autocomplete="${options.autocomplete}"` : ""}
${options.placeholder ? html`placeholder="${options.placeholder}"` : ""}
${options.required ? html`required` : ""}
${options.minlength ? html`minlength="${options.minlength}"` : ""}
${options.maxlength ? html`maxlength="${options.maxlength}"` : ""}
${options.min === undefined ? "" : html`min="${options.min}"`}
${options.max === undefined ? "" : html`max="${options.max}"`}
${options.autofocus ? html`autofocus` : ""}
${options.disabled ? html`disabled` : ""}
${options.isExact ? html`autocapitalize="none" autocorrect="off" spellcheck="false"` : ""}
${options.inputmode ? html`inputmode="${options.inputmode}"` : ""}
${described ? html`aria-describedby="${described}"` : ""}
${error ? html`aria-invalid="true"` : ""}`;
  // The first line break in a textarea is none of its text.
  const input = rows
    ? html`<textarea id="${id}" name="${name}" rows="${rows}"${attributes}>\n${value}</textarea>`
    : html`<input id="${id}" name="${name}" type="${type}"
${value !== undefined && type !== "password" ? html`value="${value}"` : ""}${attributes}>`;
  return html`<div class="field">
<label for="${id}">${label}</label>
${input}
${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ""}
${errorText(`${id}-error`, error)}
</div>`;
}

/** Why a field is refused, below it. */
export function errorText(id: string, error: string | undefined): Html | "" {
  return error ? html`<p class="error" id="${id}">${icon("alert")}${error}</p>` : "";
}

type Checks = Pick<Field, "label" | "name" | "error"> & {
  options: readonly (readonly [value: string, name: HtmlValue])[];
  chosen: readonly string[];
};

/** Boxes of which any may be ticked. An empty value is sent besides, so that none is told from a form without them. */
export function checks({ label, name, options, chosen, error }: Checks): Html {
  const id = `field-${name}`;
  const check = ([value, shown]: Checks["options"][number]) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="${value}" ${chosen.includes(value) && html`checked`}>${shown}</label>`;
  return html`<fieldset class="field" ${error && html`aria-describedby="${id}-error"`}><legend>${label}</legend><input type="hidden" name="${name}" value=""><div class="actions">${options.map(check)}</div>${errorText(`${id}-error`, error)}</fieldset>`;
}

/** The values of ticked boxes, as they were sent: none, one or a list; undefined of a form without them. */
export const ticked = z.preprocess(
  (sent) => (sent === undefined ? undefined : [sent].flat().filter((value) => value !== "")),
  z.array(z.string()).max(100).optional(),
);

type Choice = Pick<Field, "id" | "label" | "name" | "value" | "error"> & {
  options: readonly (readonly [value: string, name: string])[];
};

/** One of several; the first when the value is none of them. */
export function choice({ label, name, value, error, options, id = `field-${name}` }: Choice): Html {
  return html`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${name}" ${error ? html`aria-invalid="true" aria-describedby="${id}-error"` : ""}>${options.map(
    ([choice, shown]) =>
      html`<option value="${choice}" ${choice === value ? html`selected` : ""}>${shown}</option>`,
  )}</select>${errorText(`${id}-error`, error)}</div>`;
}

/** A value with a copy button. `id`: unique on the page. */
export function copyable(id: string, value: string, label: string): Html {
  return html`<div class="copyable"><code id="${id}">${value}</code>
${copyButton(id, label)}</div>`;
}

/** Copies the text of the element with this id; portal.js shows it. */
export function copyButton(id: string, label: string): Html {
  return html`<button type="button" class="button button-icon" data-copy="${id}" aria-label="Copy ${label}" title="Copy" hidden>${icon("copy")}</button>`;
}

/** A button that opens a question, with a button that leaves things as they are; without scripts (popover). */
export function confirmed(button: string, question: Html, form: Html, kind = ""): Html {
  const id = `confirm-${hash("sha256", htmlText(form)).slice(0, 12)}`;
  return html`<button type="button" class="button ${kind}" popovertarget="${id}">${button}</button>
<div class="confirm-box" id="${id}" popover role="dialog" aria-label="${button}">${question}${form}
<button type="button" class="button" popovertarget="${id}" popovertargetaction="hide">Cancel</button></div>`;
}

/** As people read it, to the minute. */
function inUtc(at: string): string {
  return `${at.slice(0, 16).replace("T", " ")} UTC`;
}

/** A time in UTC; portal.js shows it in the visitor's time zone. */
export function time(at: string): Html {
  return html`<time datetime="${at}">${inUtc(at)}</time>`;
}

/** As `time`, with seconds, where several things happen within a minute. */
export function timeWithSeconds(at: string): Html {
  return html`<time datetime="${at}" data-seconds>${at.slice(0, 19).replace("T", " ")} UTC</time>`;
}

/** Usage of a limit. */
export function meter(name: string, used: number, limit: number): Html {
  return html`<div class="meter"><div class="meter-head"><span>${name}</span><span class="number">${used} of ${limit}</span></div>
<progress value="${used}" max="${limit}" aria-label="${name}">${used} of ${limit}</progress></div>`;
}
