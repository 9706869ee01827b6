// What pages are made of: heads, cards, facts, tables, buttons and times; forms are in controls.ts.
//
//     const COLUMNS: Columns<Key> = {
//       Label: ({ label, id }) => html`<a href="/portal/keys/${id}">${label}</a>`, // what a cell is
//       Issued: "issuedAt", // or the member that it shows: numbers stand at the end of the line, times in the visitor's zone
//       Actions: { cell: revoke, isHidden: true, end: true },
//     };
//     sendPage(reply, { title: "API keys", nav: "API keys", refused, cards: [
//       { title: "New key", form: { action: "/portal/keys", fields: FIELDS, button: "Issue key" } },
//       tableCard("Your keys", COLUMNS, keys, { none: "No keys yet." }),
//       { title: "Limits", facts: { Used: count(used), Until: until && time(until) } }, // what is undefined or false is left out
//     ] });
import { hash } from "node:crypto";
import { attribute, type Form, form, hiddenFields } from "./controls.ts";
import { around, type Html, type HtmlValue, html, htmlText } from "./html.ts";
import { type IconName, icon } from "./icons.ts";
import type { RefusedForm } from "./refused-form.ts";

/** `above`: way back to the pages it belongs to. `lead`: a sentence below the title. `actions`: buttons beside it. */
export type PageHead = { above?: HtmlValue; lead?: HtmlValue; actions?: HtmlValue };

export function pageHead(title: HtmlValue, { above, lead, actions }: PageHead = {}): Html {
  return html`<div class="page-head"><div>${above && html`<p class="small">${above}</p>`}<h1>${title}</h1>
${lead && html`<p class="muted">${lead}</p>`}</div>${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

type CardHead = {
  lead?: HtmlValue;
  actions?: HtmlValue;
  /** `danger` for what can't be undone. */
  kind?: "danger" | undefined;
};

/**
 * A section of a page. Without body, facts and form, `lead` says it all; with a form alone it is there for who may send it.
 */
export type Card = CardHead & {
  title: HtmlValue;
  facts?: Facts | undefined;
  body?: HtmlValue;
  form?: Form | undefined;
  below?: HtmlValue;
};

/** Of a page; those that are undefined or false are left out. Those of a list stand beside each other, where there is room. */
export type Cards = readonly (Card | Html | false | undefined | Cards)[];

/** Each of the forms of these cards. */
export function formsOf(parts: Cards): Form[] {
  return parts.flatMap((part) => {
    if (Array.isArray(part)) return formsOf(part);
    return isCard(part) && part.form ? part.form : [];
  });
}

function isCard(part: Cards[number]): part is Card {
  return typeof part === "object" && "title" in part;
}

/** `heading`: of the titles. `refused`: the form that was refused. */
export function cards(parts: Cards, heading: "h1" | "h2" = "h2", refused?: RefusedForm): Html {
  return html`${parts.map((part) => {
    if (Array.isArray(part)) return html`<div class="grid">${cards(part, heading, refused)}</div>\n`;
    if (!isCard(part)) return html`${part as Html | false | undefined}\n`;
    const { title, facts: rows, body, form: declared, below, ...head } = part;
    const drawn = declared && form(declared, refused);
    const whole = card(title, html`${rows && facts(rows)}${body}${drawn}${below}`, head, heading);
    return html`${drawn && !rows && !body && !below ? around(drawn, whole) : whole}\n`;
  })}`;
}

export function card(
  title: HtmlValue,
  body?: HtmlValue,
  { lead, actions, kind }: CardHead = {},
  tag: "h1" | "h2" = "h2",
): Html {
  const heading = html`<${tag}>${title}</${tag}>${lead && html`<p class="muted">${lead}</p>`}`;
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
type Facts = Readonly<Record<string, HtmlValue>>;

export function facts(rows: Facts): Html {
  const entries = Object.entries(rows).filter(([, value]) => value !== undefined && value !== false);
  return html`<dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** A card with a form. */
export function formCard(title: HtmlValue, { lead, actions, kind, ...declared }: CardHead & Form): Html {
  const drawn = form(declared);
  return around(drawn, card(title, drawn, { lead, actions, kind }));
}

export type Column<Row> = {
  cell: (row: Row) => HtmlValue;
  /** Numbers and buttons stand at the end of the line. */
  end?: boolean;
  /** Its name is for screen readers alone, as over buttons. */
  isHidden?: boolean;
  /** Beside its name in the head. */
  mark?: HtmlValue;
  /** In rem, of a table whose columns have fixed widths; those without share what is left. */
  width?: number;
};

/** By their names. A column shows the member of this name, or what the function makes of the row. */
export type Columns<Row> = Readonly<
  Record<string, (keyof Row & string) | ((row: Row) => HtmlValue) | Column<Row>>
>;

/** Rows under a caption for screen readers; on phones each cell but the first shows the name of its column. */
export function table<Row>(
  caption: string,
  columns: Columns<NoInfer<Row>>,
  rows: readonly Row[],
  member: (name: string, value: unknown) => HtmlValue = shownMember,
): Html {
  const drawn = Object.entries(columns).map(
    ([name, of], index): Column<Row> & { name: string; at: HtmlValue } => {
      const column =
        typeof of === "object"
          ? of
          : typeof of === "function"
            ? { cell: of }
            : memberColumn(of, rows, member);
      const label = index > 0 && !column.isHidden && attribute("data-label", name);
      return { name, ...column, at: html`${label}${column.end && html` class="end"`}` };
    },
  );
  const isFixed = drawn.some(({ width }) => width !== undefined);
  const head = ({ name, isHidden, mark, width, end }: (typeof drawn)[number]) => {
    return html`<th scope="col"${end && html` class="end"`}${attribute("width", width && width * 16)}>${isHidden ? html`<span class="visually-hidden">${name}</span>` : name}${mark && html` ${mark}`}</th>`;
  };
  return html`<table class="table${isFixed && " table-fixed"}"><caption class="visually-hidden">${caption}</caption>
<thead><tr>${drawn.map(head)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${drawn.map(({ cell, at }) => html`<td${at}>${cell(row)}</td>`)}</tr>\n`)}</tbody></table>`;
}

function memberColumn<Row>(
  name: keyof Row & string,
  rows: readonly Row[],
  member: (name: string, value: unknown) => HtmlValue,
): Column<Row> {
  const isNumber = rows.length > 0 && rows.every((row) => typeof row[name] === "number");
  return { cell: (row) => member(name, row[name]), end: isNumber };
}

/** A value by its kind: numbers, times, and what may be long. */
export function shownMember(name: string, value: unknown): HtmlValue {
  if (value === null || value === undefined) return html`<span class="muted">none</span>`;
  if (typeof value === "number") return html`<span class="number">${value.toLocaleString("en")}</span>`;
  return /(^a|[a-z]A|_a)t$/.test(name)
    ? html`<span class="nowrap">${time(String(value))}</span>`
    : html`<span class="break">${String(value)}</span>`;
}

type TableCard = CardHead & {
  /** What is said where there are no rows: by itself, or below this title. Without it there is no card then. */
  none?: string | readonly [title: string, text: HtmlValue, sign?: IconName];
  /** Below the table. */
  below?: HtmlValue;
  member?: Parameters<typeof table>[3];
};

/** A card of its rows, under their name. */
export function tableCard<Row>(
  title: string,
  columns: Columns<NoInfer<Row>>,
  rows: readonly Row[],
  { none, below, member, ...head }: TableCard = {},
): Card | Html | undefined {
  if (rows.length > 0) return { title, body: html`${table(title, columns, rows, member)}${below}`, ...head };
  if (typeof none === "string") return { title, ...head, lead: none };
  return none && emptyCard(none[2], none[0], none[1]);
}

export function badge(tone: "good" | "bad" | "warn" | "accent" | "plain", words: HtmlValue): Html {
  return html`<span class="badge badge-${tone}">${words}</span>`;
}

/** Links of which one is chosen: what the page shows. */
export function choices(
  label: string,
  links: readonly (readonly [name: HtmlValue, address: string, isChosen: boolean])[],
): Html {
  return html`<nav class="choices" aria-label="${label}">${links.map(([name, address, isChosen]) => html`<a href="${address}" ${isChosen && html`aria-current="true"`}>${name}</a>`)}</nav>`;
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

/** A value with a copy button. `id`: unique on the page. */
export function copyable(id: string, value: string, label: string): Html {
  return html`<div class="copyable"><code id="${id}">${value}</code>
${copyButton(id, label)}</div>`;
}

/** Copies the text of the element with this id; portal.js shows it. `words`: on the button, instead of its sign. */
export function copyButton(id: string, label: string, words?: string): Html {
  return html`<button type="button" class="button${!words && " button-icon"}" data-copy="${id}" aria-label="Copy ${label}" title="Copy" hidden>${icon("copy")}${words}</button>`;
}

/** A button that opens a question, with a button that leaves things as they are; without scripts (popover). */
export function confirmed(button: string, question: Html, form: Html, kind = ""): Html {
  const id = `confirm-${hash("sha256", htmlText(form)).slice(0, 12)}`;
  const whole = html`<button type="button" class="button ${kind}" popovertarget="${id}">${button}</button>
<div class="confirm-box" id="${id}" popover role="dialog" aria-label="${button}">${question}${form}
<button type="button" class="button" popovertarget="${id}" popovertargetaction="hide">Cancel</button></div>`;
  return around(form, whole);
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
