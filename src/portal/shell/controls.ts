// Fields and forms as declarations, and the one way each is drawn, read, and shown again where it is refused.
//
//     const FIELDS = { hostname: { label: "Host name", isExact: true, required: true, maxlength: 260 } } satisfies Fields;
//     formRoute(app, deps, "/domains", { schema: { body: schemaOf(FIELDS) }, ... });
//     { title: "Add a domain", form: { action: "/portal/domains", fields: FIELDS, button: "Add" } } // a Card (layout.ts)
import { z } from "zod";
import { commaSeparated } from "../../config/formats.ts";
import { type Html, type HtmlValue, html, isHtml } from "./html.ts";
import { icon } from "./icons.ts";
import { errorOf, type RefusedForm, typedText } from "./refused-form.ts";

/**
 * What a field of a form is, said once: by it a form is drawn (`inputs`), read (`schemaOf`), and shown again with what was
 * typed and why it is refused.
 */
export type Field = {
  label: HtmlValue;
  hint?: HtmlValue;
  /** By default a line of text; with `options`, `rows` or `isBox` another input. */
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
    | "file"
    | undefined;
  /** Of which one is chosen, the first when the value is none of them; of `boxes`, any. */
  options?: readonly (readonly [value: string, name: HtmlValue])[] | undefined;
  boxes?: true | undefined;
  /** One box, sent as `1` when it is ticked. */
  isBox?: boolean | undefined;
  /** Values with commas between them. */
  isList?: boolean | undefined;
  /** Of a text of several lines. */
  rows?: number | undefined;
  /** By default `off`. */
  autocomplete?: string | undefined;
  placeholder?: string | undefined;
  /** Id of a `datalist` with values that are offered. */
  list?: string | undefined;
  required?: boolean | undefined;
  minlength?: number | undefined;
  maxlength?: number | undefined;
  /** Of a number. */
  min?: number | undefined;
  max?: number | undefined;
  /** Of a file: its types. */
  accept?: string | undefined;
  autofocus?: boolean | undefined;
  disabled?: boolean | undefined;
  /** Typed as it is: phones put no capital before it, correct nothing, and no spell checker gets to read it. */
  isExact?: boolean | undefined;
  inputmode?: "numeric" | "decimal" | undefined;
  /** Unique on the page; derived from the name by default. */
  id?: string | undefined;
  /** How it is read; by default as a text, of at most `maxlength` characters, or as the values of ticked boxes. */
  schema?: z.ZodType | undefined;
  /** What refusals call it, where that is not its name. */
  refusedAs?: string | undefined;
};

/** The fields of a form, by the names under which they are sent. */
export type Fields = Readonly<Record<string, Field>>;
type Value = string | readonly string[] | null | undefined;
export type Values = Readonly<Record<string, Value>>;

/** With its value. */
export type DrawnField = Field & {
  name: string;
  value?: Value;
  /** Why the submitted value was refused. */
  error?: string | undefined;
};

export function field(drawn: DrawnField): Html {
  const { label, name, hint, error, options, value } = drawn;
  const id = drawn.id ?? `field-${name}`;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const about = html`${attribute("aria-describedby", described || undefined)}${error && html` aria-invalid="true"`}`;
  const below = html`${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${errorText(`${id}-error`, error)}`;
  if (drawn.boxes) {
    const values = [value ?? []].flat();
    const boxes = (options ?? []).map(([option, shown]) => box(name, option, shown, values.includes(option)));
    return html`<fieldset class="field"${attribute("aria-describedby", described || undefined)}><legend>${label}</legend><input type="hidden" name="${name}" value=""><div class="actions">${boxes}</div>${below}</fieldset>`;
  }
  // The empty value is sent besides, so that a box that is not ticked is told from a form without it.
  if (drawn.isBox)
    return html`<div><input type="hidden" name="${name}" value="">${box(name, "1", label, Boolean(value))}${below}</div>`;
  const text = typeof value === "object" ? value?.join(", ") : value;
  const control = options
    ? html`<select id="${id}" name="${name}"${attributesOf(drawn)}${about}>${options.map(([option, shown]) => html`<option value="${option}" ${option === value && html`selected`}>${shown}</option>`)}</select>`
    : drawn.rows
      ? // The first line break in a textarea is none of its text.
        html`<textarea id="${id}" name="${name}" rows="${drawn.rows}"${attributesOf(drawn)}${about}>\n${text}</textarea>`
      : html`<input id="${id}" name="${name}" type="${drawn.type ?? "text"}"${drawn.type !== "password" && attribute("value", text)}${attributesOf(drawn)}${about}>`;
  return html`<div class="field"><label for="${id}">${label}</label>
${control}
${below}</div>`;
}

const ATTRIBUTES = [
  "placeholder",
  "list",
  "minlength",
  "maxlength",
  "min",
  "max",
  "accept",
  "inputmode",
] as const;
const FLAGS = ["required", "autofocus", "disabled"] as const;

function attributesOf(drawn: DrawnField): Html {
  return html`${attribute("autocomplete", drawn.autocomplete ?? (drawn.options ? undefined : "off"))}${ATTRIBUTES.map((name) => attribute(name, drawn[name]))}${FLAGS.map((name) => drawn[name] && ` ${name}`)}${drawn.isExact && html` autocapitalize="none" autocorrect="off" spellcheck="false"`}`;
}

function box(name: string, value: string, label: HtmlValue, isTicked: boolean): Html {
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}" ${isTicked && html`checked`}>${label}</label>`;
}

/** Why a field is refused, below it. */
export function errorText(id: string, error: string | undefined): Html | "" {
  return error ? html`<p class="error" id="${id}">${icon("alert")}${error}</p>` : "";
}

/** The values of ticked boxes, as they were sent: none, one or a list; undefined of a form without them. */
export const ticked = z.preprocess(
  (sent) => (sent === undefined ? undefined : [sent].flat().filter((value) => value !== "")),
  z.array(z.string()).max(100).optional(),
);

/** Values that are typed with commas; a refused form holds them as a list. */
const listed = z
  .preprocess(
    (typed) => (typeof typed === "string" ? commaSeparated(typed) : typed),
    z.array(z.string()).optional(),
  )
  .catch(undefined);

/** Whether a box is ticked. */
const isTicked = z.preprocess((sent) => [sent].flat().includes("1"), z.boolean());

/** All fields of a form: with `values`, or, where it was `refused`, with what was typed and why. */
export function inputs(fields: Fields, values: Values = {}, refused?: RefusedForm): Html {
  const shown = (name: string, { boxes, isBox, isList }: Field) => {
    const typed = refused?.typed[name];
    if (typed === undefined) return values[name];
    if (boxes) return ticked.catch([]).parse(typed);
    if (isBox) return isTicked.parse(typed) ? "1" : "";
    if (isList) return listed.parse(typed);
    return typedText({ name: typed }, "name");
  };
  return html`${Object.entries(fields).map(([name, declared]) =>
    field({
      ...declared,
      name,
      value: shown(name, declared),
      error: errorOf(refused, declared.refusedAs ?? name),
    }),
  )}`;
}

type SchemaOf<F extends Field> = F extends { schema: infer S extends z.ZodType }
  ? S
  : F extends { boxes: true }
    ? typeof ticked
    : F extends { isBox: true }
      ? typeof isTicked
      : F extends { isList: true }
        ? typeof listed
        : z.ZodDefault<z.ZodString>;

/** How a form with these fields is read. */
export function schemaOf<F extends Fields>(fields: F): z.ZodObject<{ [N in keyof F]: SchemaOf<F[N]> }> {
  const schemas = Object.entries(fields).map(([name, { schema, boxes, isBox, isList, maxlength }]) => {
    if (schema) return [name, schema];
    if (boxes || isBox || isList) return [name, boxes ? ticked : isBox ? isTicked : listed];
    return [name, (maxlength === undefined ? z.string() : z.string().max(maxlength)).default("")];
  });
  return z.object(Object.fromEntries(schemas)) as ReturnType<typeof schemaOf<F>>;
}

type Folded = { title: HtmlValue; fields: Fields; isOpen?: boolean };

export type Form = {
  /** Unique on the page, for links to it. */
  id?: string;
  action: string;
  /** To look something up; by default it changes something. */
  method?: "get";
  /** Or inputs that are laid out already. */
  fields: Fields | Html;
  /** Behind these names, open where something in them is set, and when the form is shown again. */
  folded?: readonly Folded[];
  values?: Values;
  /** Sent with it; those that are undefined are left out. */
  hidden?: Readonly<Record<string, string | undefined>>;
  /** What is no field, behind the fields. */
  more?: HtmlValue;
  /** Beside all of them, where there is room. */
  beside?: HtmlValue;
  button: HtmlValue;
  buttonKind?: "primary" | "danger";
  /** Fields and button in one line, where there is room. */
  isRow?: boolean;
};

/** All that it declares. */
export function fieldsOf({ fields, folded = [] }: Form): Fields {
  const behind = folded.map(({ fields }) => fields);
  return Object.assign({}, isHtml(fields) ? {} : fields, ...behind);
}

/** Whether it is this form that was refused: of several on a page only it shows what was typed, and why that was not taken. */
export function isRefusedForm({ action }: Form, refused: RefusedForm | undefined): refused is RefusedForm {
  return refused?.action === action;
}

/** `onPage`: the form that was refused, be it this one or another. */
export function form(declared: Form, onPage?: RefusedForm): Html {
  const { id, action, method, values, hidden = {}, beside, button, buttonKind, isRow } = declared;
  const refused = isRefusedForm(declared, onPage) ? onPage : undefined;
  const hasFile = Object.values(fieldsOf(declared)).some(({ type }) => type === "file");
  const folded = declared.folded?.map(
    ({ title, fields, isOpen = refused !== undefined }) =>
      html`<details class="more-options" ${isOpen && html`open`}><summary>${title}</summary><div class="stack">${inputs(fields, values, refused)}</div></details>`,
  );
  const fields = isHtml(declared.fields) ? declared.fields : inputs(declared.fields, values, refused);
  const all = html`${fields}${folded}${declared.more}`;
  const send = html`<button class="button${buttonKind && ` button-${buttonKind}`}">${button}</button>`;
  return html`<form method="${method ?? "post"}" action="${action}"${attribute("id", id)}${hasFile && html` enctype="multipart/form-data"`}${method && html` role="search"`} class="${isRow ? "form-row" : "form"}">${hiddenFields(hidden)}${beside ? html`<div class="grid"><div class="stack">${all}</div>${beside}</div>` : all}
${isRow ? send : html`<div>${send}</div>`}</form>`;
}

/** By which password managers find the account. */
export function usernameField(email: string): Html {
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden>`;
}

export function hiddenFields(fields: Readonly<Record<string, string | undefined>>): Html {
  return html`${Object.entries(fields).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** With a space before it; nothing where it has no value. */
export function attribute(name: string, value: string | number | undefined): HtmlValue {
  return value !== undefined && html` ${name}="${value}"`;
}
