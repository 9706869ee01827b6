// What pages are made of: head, cards, facts, tables, and forms.
import { confirmed } from "./form.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { type IconName, icon } from "./icons.ts";

/** `above`: way back to the pages it belongs to. `lead`: a sentence below the title. `actions`: buttons beside it. */
type PageHead = { above?: HtmlValue; lead?: HtmlValue; actions?: HtmlValue };

export function pageHead(title: HtmlValue, { above, lead, actions }: PageHead = {}): Html {
  return html`<div class="page-head"><div>${above && html`<p class="small">${above}</p>`}<h1>${title}</h1>
${lead && html`<p class="muted">${lead}</p>`}</div>${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

/** `kind`: `danger` for what can't be undone. */
type Card = { lead?: HtmlValue; actions?: HtmlValue; kind?: "danger" | undefined };

/** A section with a heading. Without a body, `lead` says it all. */
export function card(title: HtmlValue, body?: HtmlValue, { lead, actions, kind }: Card = {}): Html {
  const heading = html`<h2>${title}</h2>${lead && html`<p class="muted">${lead}</p>`}`;
  return html`<section class="card${kind && ` card-${kind}`}">${
    actions ? html`<div class="card-head"><div>${heading}</div>${actions}</div>` : heading
  }
${body}</section>`;
}

/** What there is to say where there is nothing to show yet. */
export function emptyCard(sign: IconName | undefined, title: HtmlValue, text: HtmlValue): Html {
  return html`<section class="card empty">${sign && icon(sign)}<h2>${title}</h2><p>${text}</p></section>`;
}

/** Names and what they say; those that are undefined or false are left out. */
export function facts(rows: Readonly<Record<string, HtmlValue>>): Html {
  const entries = Object.entries(rows).filter(([, value]) => value !== undefined && value !== false);
  return html`<dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

type FormCard = Card & {
  /** Unique on the page, for links to it. */
  id?: string;
  action: string;
  fields: HtmlValue;
  button: HtmlValue;
  buttonKind?: "primary" | "danger";
  /** Fields and button in one line, where there is room. */
  isRow?: boolean;
};

/** A card with a form, whose button stands below its fields. */
export function formCard(
  title: HtmlValue,
  { id, action, fields, button, buttonKind, isRow = false, ...about }: FormCard,
): Html {
  const send = html`<button class="button${buttonKind && ` button-${buttonKind}`}">${button}</button>`;
  return card(
    title,
    html`<form method="post" action="${action}"${attribute("id", id)} class="${isRow ? "form-row" : "form"}">${fields}
${isRow ? send : html`<div>${send}</div>`}</form>`,
    about,
  );
}

export type Column<Row> = {
  name: string;
  cell: (row: Row) => HtmlValue;
  /** Numbers and buttons stand at the end of the line. */
  end?: boolean;
  /** Its name is for screen readers alone, as over buttons. */
  isHidden?: boolean;
  /** Beside its name in the head. */
  mark?: HtmlValue;
};

/**
 * Rows under a caption for screen readers; on phones each cell but the first shows the name of its column. `kind`: columns
 * of fixed widths.
 */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: Iterable<Row>,
  kind?: "links" | "rows" | "tags",
): Html {
  const end = (column: Column<Row>) => column.end && attribute("class", "end");
  const label = (column: Column<Row>, index: number) =>
    index > 0 && !column.isHidden && attribute("data-label", column.name);
  const head = (column: Column<Row>) =>
    html`<th scope="col"${end(column)}>${column.isHidden ? html`<span class="visually-hidden">${column.name}</span>` : column.name}${column.mark && html` ${column.mark}`}</th>`;
  const cells = (row: Row) =>
    columns.map((column, index) => html`<td${label(column, index)}${end(column)}>${column.cell(row)}</td>`);
  return html`<table class="table${kind && ` table-${kind}`}"><caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map(head)}</tr></thead>
<tbody>${Array.from(rows, (row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table>`;
}

type PostButton = {
  /** Hidden fields; those that are undefined are left out. */
  fields?: Readonly<Record<string, string | undefined>>;
  kind?: "primary" | "danger" | "small";
  /** For screen readers, where the button's own words need their row. */
  label?: string;
};

/** A form that is one button. */
export function postButton(
  action: string,
  words: HtmlValue,
  { fields = {}, kind, label }: PostButton = {},
): Html {
  const shape = kind && ` button-${kind}`;
  return html`<form method="post" action="${action}">${hiddenFields(fields)}<button class="button${shape}"${attribute("aria-label", label)}>${words}</button></form>`;
}

/** A button that asks first, and then sends a form. `question`: what it means. */
export function confirmedPost(
  button: string,
  question: HtmlValue,
  action: string,
  words: HtmlValue,
  fields: PostButton["fields"] = {},
): Html {
  return confirmed(button, html`<p>${question}</p>`, postButton(action, words, { fields, kind: "danger" }));
}

export function hiddenFields(fields: Readonly<Record<string, string | undefined>>): Html {
  return html`${Object.entries(fields).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** With a space before it; nothing where it has no value. */
function attribute(name: string, value: string | undefined): HtmlValue {
  return value !== undefined && html` ${name}="${value}"`;
}
