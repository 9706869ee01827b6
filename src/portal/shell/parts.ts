// What pages are made of: head, card, table, and a form that is one button.
import { type Html, type HtmlValue, html } from "./html.ts";

/** `above`: way back to the pages it belongs to. `lead`: a sentence below the title. `actions`: buttons beside it. */
type PageHead = { above?: HtmlValue; lead?: HtmlValue; actions?: HtmlValue };

export function pageHead(title: HtmlValue, { above, lead, actions }: PageHead = {}): Html {
  return html`<div class="page-head"><div>${above && html`<p class="small">${above}</p>`}<h1>${title}</h1>
${lead && html`<p class="muted">${lead}</p>`}</div>${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

type Card = { id?: string; lead?: HtmlValue; actions?: HtmlValue };

/** A section with a heading. Without a body, `lead` says it all. */
export function card(title: HtmlValue, body?: HtmlValue, { id, lead, actions }: Card = {}): Html {
  const heading = html`<h2>${title}</h2>${lead && html`<p class="muted">${lead}</p>`}`;
  return html`<section class="card" ${id && html`id="${id}"`}>${
    actions ? html`<div class="card-head"><div>${heading}</div>${actions}</div>` : heading
  }
${body}</section>`;
}

export type Column<Row> = {
  name: string;
  cell: (row: Row) => HtmlValue;
  /** Numbers and buttons stand at the end of the line. */
  end?: boolean;
  /** A column of buttons: its name is for screen readers alone. */
  isHidden?: boolean;
};

/** Rows under a caption for screen readers; on phones each cell shows the name of its column. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: Iterable<Row>): Html {
  const style = ({ end }: Column<Row>) => (end ? html`class="end"` : "");
  const name = (column: Column<Row>) =>
    column.isHidden ? html`<span class="visually-hidden">${column.name}</span>` : column.name;
  const cells = (row: Row) =>
    columns.map((one) => {
      const label = one.isHidden ? "" : html`data-label="${one.name}"`;
      return html`<td ${label} ${style(one)}>${one.cell(row)}</td>`;
    });
  return html`<table class="table"><caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map((one) => html`<th scope="col" ${style(one)}>${name(one)}</th>`)}</tr></thead>
<tbody>${Array.from(rows, (row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table>`;
}

type PostButton = {
  /** Hidden fields; those that are undefined are left out. */
  fields?: Readonly<Record<string, string | undefined>>;
  kind?: "primary" | "danger" | "quiet" | "small";
  /** For screen readers, where the button's own words need their row. */
  label?: string;
};

/** A form that is one button. */
export function postButton(
  action: string,
  words: HtmlValue,
  { fields = {}, kind, label }: PostButton = {},
): Html {
  return html`<form method="post" action="${action}">${hiddenFields(fields)}<button class="button ${
    kind && `button-${kind}`
  }" ${label && html`aria-label="${label}"`}>${words}</button></form>`;
}

export function hiddenFields(fields: Readonly<Record<string, string | undefined>>): Html {
  return html`${Object.entries(fields).map(([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`)}`;
}
