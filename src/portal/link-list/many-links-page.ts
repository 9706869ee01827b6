// GET and POST /portal/links/many: links from a table that is pasted or opened, whatever its columns are called: first a preview
// of what each row would become, in which each column can be said to be another part of a link; then the same as a report.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { FORM_FRAME_BYTES, takeUploads } from "../../api/uploads.ts";
import { opened } from "../../commands/account/account.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { lastPosition } from "../../commands/handle-command.ts";
import { Refused } from "../../commands/refusals.ts";
import { shortUrlOf } from "../../events/click-facts.ts";
import { addressOf } from "../../events/streams.ts";
import { BULK_MAX_LINKS, hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { timeZone } from "../../queries/analytics/time-zone.ts";
import type { Fields as Cells } from "../../transfer/import/imported.ts";
import { textOfFile, textSource } from "../../transfer/import/reading/lines.ts";
import { readRows } from "../../transfer/import/reading/read-rows.ts";
import { type ImportReport, runImport } from "../../transfer/import/run-import.ts";
import type { ImportedRow } from "../../transfer/import/take-rows.ts";
import { capital, count, counted, linkPath } from "../links/link-view.ts";
import { openedByOperator } from "../links/new-link-page.ts";
import { readableUrl } from "../links/urls.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countChange } from "../shell/change-limit.ts";
import { type Fields, field, hiddenFields, schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { badge, type Card, type Columns, copyButton, table } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { signedIn, zoneOf } from "../shell/sessions.ts";
import { mappedTable, PARTS, tellColumns } from "./column-mapping.ts";
import { LINKS_PATH, SEVERAL } from "./links-filters.ts";
import { cutInTheMiddle } from "./links-table.ts";

const PATH = "/portal/links/many";
export const MOST_ROWS = 500;
const MOST_COLUMNS = 100;
const MOST_CHARACTERS = 300_000;
/** Of a form: its table in UTF-8, or a file. */
const FORM_BYTES = 1_048_576;
/** Of a workbook's XML, which is parsed here. */
const UNPACKED_BYTES = 16_777_216;
const LIST = "The list";
/** Of a column, to tell which it is. */
const EXAMPLE_CHARACTERS = 40;

const FIELDS = {
  list: {
    label: "Addresses, one a line, or a table with a line of column names",
    rows: 10,
    placeholder: "https://example.com/one\nhttps://example.com/two",
    schema: z.string().default(""),
  },
  file: {
    label: "Or a file: a sheet (.xlsx, .ods), CSV, TSV or JSON",
    type: "file",
    accept: ".xlsx,.ods,.csv,.tsv,.txt,.json",
    schema: z.instanceof(Uint8Array).optional().catch(undefined),
    refusedAs: "file",
  },
} satisfies Fields;

const IS_EACH = {
  isOneEachDestination: {
    label: "One link for each destination, whatever else a row says",
    isBox: true,
  },
} satisfies Fields;

/** `column`: the part that each column is, in their order; told where there are none. */
const ManyForm = schemaOf({ ...FIELDS, ...IS_EACH }).extend({
  act: z.enum(["preview", "create"]).default("preview"),
  column: z.preprocess(
    (sent) => [sent ?? []].flat(),
    z.array(z.string().refine((part) => Object.hasOwn(PARTS, part))).max(MOST_COLUMNS),
  ),
});

/** A table as it was sent. `records`: of its rows that can be read. */
type Sheet = { text: string; columns: readonly string[]; records: readonly Cells[]; rowCount: number };

/** What becomes, or became, of each row. `parts`: of each column. */
type Outcome = {
  sheet: Sheet;
  parts: readonly string[];
  isOneEachDestination: boolean;
  rows: ImportedRow[];
  report: ImportReport;
  isDone: boolean;
};

export function manyLinksPage(app: Api, deps: PortalDeps): void {
  app.get("/links/many", (_, reply) => sendMany(deps, reply));

  app.register(async (scope: Api) => {
    takeUploads(scope);
    formRoute(scope, deps, "/links/many", {
      schema: { body: ManyForm },
      bodyLimit: FORM_BYTES + FORM_FRAME_BYTES,
      async run({ reply, request, session, context, body }) {
        requireDeveloper(session.tier, "Lists of links", "list");
        const { isOneEachDestination, act, column, file, list } = body;
        const isDone = act === "create";
        const sheet = await readSheet(file ? await textOfFile(LIST, file, UNPACKED_BYTES) : list);
        const { columns, records, rowCount } = sheet;
        const parts = column.length === columns.length ? column : tellColumns(columns, records);
        refuseMapping(parts);
        // As many rows for a change of the hour as in a bulk request, the form being the first; a preview checks as much.
        for (let n = BULK_MAX_LINKS; n < rowCount; n += BULK_MAX_LINKS) await countChange(deps, session);
        const rows: ImportedRow[] = [];
        const { baseHostSlugs, currentAccount } = deps.links;
        const account = opened(await currentAccount(session.accountId));
        const byOwner = { baseHostSlugs, isOneEachDestination };
        const report = await runImport(
          deps.links,
          { account, context, domain: undefined, keyId: undefined, dryRun: !isDone, byOwner },
          {
            format: mappedTable(columns, parts),
            links: textSource(LIST, sheet.text),
            clicks: undefined,
            onRow: (row) => void rows.push(row),
            zone: timeZone(zoneOf(request) ?? ""),
          },
        );
        const outcome = { sheet, parts, isOneEachDestination, rows, report, isDone };
        return {
          position: isDone ? lastPosition(rows.map(positionOf)) : undefined,
          to: () => sendMany(deps, reply, outcome),
        };
      },
      again: (reply, refused) => sendMany(deps, reply, undefined, refused),
      path: PATH,
    });
  });
}

/** @throws invalid_request for an empty list and for one that is too long or wide; wrong_format */
async function readSheet(sent: string): Promise<Sheet> {
  // Within cells, too: a browser that sends the table again ends lines its own way, and rows are told apart by their cells.
  const text = sent.replaceAll(/\r\n?/g, "\n");
  const refuse = (why: string): never => {
    throw new Refused("invalid_request", why, { field: "list" });
  };
  if (text.trim() === "") refuse("Paste at least one address, or choose a file.");
  if (text.length > MOST_CHARACTERS)
    refuse(
      `The list has ${count(text.length)} characters, and may have ${count(MOST_CHARACTERS)}: paste it in parts.`,
    );
  let rowCount = 0;
  const records: Cells[] = [];
  const columns = new Set<string>();
  let unreadable: string | undefined;
  for await (const row of readRows(textSource(LIST, text))) {
    rowCount += "error" in row ? row.rows : 1;
    if (rowCount > MOST_ROWS)
      refuse(
        `The list has more than ${count(MOST_ROWS)} rows: paste it in parts, each with the line of column names.`,
      );
    if ("error" in row) {
      unreadable ??= `${row.place}: ${row.error.message}`;
      continue;
    }
    records.push(row.record);
    for (const column of row.columns ?? Object.keys(row.record)) columns.add(column);
    if (columns.size > MOST_COLUMNS)
      refuse(
        `The list has ${count(columns.size)} columns, and may have ${count(MOST_COLUMNS)}: leave out those that links don’t need.`,
      );
  }
  if (records.length === 0 && unreadable !== undefined) refuse(`No row can be read. ${unreadable}.`);
  return { text, columns: [...columns], records, rowCount };
}

/** @throws invalid_request where no column is the destination, or two are one part */
function refuseMapping(parts: readonly string[]): void {
  const twice = parts.find((part, n) => part !== "" && parts.indexOf(part) < n);
  const why =
    twice !== undefined
      ? `Two columns are ${PARTS[twice]}: leave one of them out`
      : !parts.includes("url") &&
        "No column has addresses: name the one of the destinations url, in a line above the others";
  if (why) throw new Refused("invalid_request", why, { field: "list" });
}

function positionOf(row: ImportedRow) {
  return row.outcome === "failed" ? undefined : row.position;
}

function sendMany(
  deps: PortalDeps,
  reply: FastifyReply,
  outcome?: Outcome,
  refused?: RefusedForm,
): FastifyReply {
  const mayCreate = hasDeveloperFeatures(signedIn(reply.request).tier);
  return sendPage(reply, {
    title: "Many at once",
    nav: "Links",
    above: html`<a href="${LINKS_PATH}">Links</a>`,
    lead: "Paste or open a table, see what each row would become, then make the links.",
    refused,
    cards: mayCreate
      ? [outcome && outcomeCard(deps, outcome), !outcome && listCard(deps.links.baseHostSlugs)]
      : [upgrade],
  });
}

const upgrade: Card = {
  title: "With the Developer plan",
  body: html`<p>Links from a list come with the <a href="/portal/plan">Developer plan</a>, as bulk requests of the API do.</p>`,
};

function listCard(baseHostSlugs: boolean): Card {
  const hint = html`At most ${count(MOST_ROWS)} rows, as spreadsheets copy them, or separated by commas or semicolons. Columns in any order: the destination, and if you like a short link, domain, title, tags, UTM parameters and <a href="/docs">all else a link can have</a>. What each is you see, and can change, in the next step.${!baseHostSlugs && html` A row with a slug needs a domain of yours; elsewhere slugs are random, and ${openedByOperator}.`}`;
  const { list, file } = FIELDS;
  return {
    title: "A table",
    form: {
      action: PATH,
      hidden: { act: "preview" },
      fields: { list: { ...list, hint }, file },
      button: "Preview",
      buttonKind: "primary",
    },
  };
}

function outcomeCard(deps: PortalDeps, outcome: Outcome): Card {
  const { rows, report, isDone } = outcome;
  const { read, created, already, failed } = report.links;
  const repeated = repeatedRows(rows);
  const same = repeated.size;
  const there = already - same;
  // What is to be mended in a long list is seen at once.
  const refusedFirst = rows.toSorted(
    (a, b) => Number(b.outcome === "failed") - Number(a.outcome === "failed"),
  );
  const title = isDone ? `${counted(created, "link")} created` : "Preview";
  const parts = [
    `${count(created)} ${isDone ? "created" : "will be created"}`,
    there > 0 && `${count(there)} ${there === 1 ? "is" : "are"} there already`,
    same > 0 &&
      `${count(same)} ${same === 1 ? "is" : "are"} the same as ${same === 1 ? "another" : "others"}`,
    failed > 0 && `${count(failed)} can’t be taken`,
  ].filter(Boolean);
  return {
    title,
    lead: `${counted(read, "row")}: ${parts.join(", ")}.`,
    body: html`${report.missing.map(({ note }) => html`<p class="small muted">Not all: ${note}.</p>`)}
${report.notes.map(({ place, note }) => html`<p class="small muted">${place}: ${note}.</p>`)}
${isDone ? whatToTake(rows, deps) : mappingForm(outcome)}
${table(title, columnsOf(isDone, repeated), refusedFirst)}`,
  };
}

/** Of each column the part of a link that it is, with what stands in it first. */
function mappingForm({ sheet, parts, isOneEachDestination, report }: Outcome): Html {
  const { text, columns, records } = sheet;
  const { created } = report.links;
  const selects = columns.map((column, n) => {
    const example = records.map((record) => String(record[column] ?? "").trim()).find(Boolean) ?? "";
    return field({
      id: `column-${n}`,
      label: capital(column.replaceAll("_", " ")),
      name: "column",
      value: parts[n],
      options: Object.entries(PARTS),
      hint: example.length > EXAMPLE_CHARACTERS ? `${example.slice(0, EXAMPLE_CHARACTERS)}…` : example,
    });
  });
  return html`<form class="form" method="post" action="${PATH}" enctype="multipart/form-data">${hiddenFields({ list: text })}
<fieldset class="stack"><legend>What each column is</legend><div class="grid grid-small">${selects}</div></fieldset>
${field({ ...IS_EACH.isOneEachDestination, name: "isOneEachDestination", value: isOneEachDestination ? "1" : "" })}
<div class="actions">${created > 0 && html`<button class="button button-primary" name="act" value="create">Create ${counted(created, "link")}</button>`}<button class="button" name="act" value="preview">Preview again</button><a class="button" href="${PATH}">Another table</a></div></form>`;
}

/** What the links that there are now can be taken as. */
function whatToTake(rows: readonly ImportedRow[], { baseUrl }: PortalDeps): Html {
  const links = rows.flatMap((row) => (row.outcome === "failed" ? [] : [row]));
  const keys = links.map(({ link }) => link.key);
  const shortUrls = keys.map((key) => shortUrlOf(key, baseUrl)).join("\n");
  return html`<form class="actions" method="post" action="${SEVERAL}">
${
  keys.length > 0 &&
  html`${Array.from(new Set(keys), (link) => hiddenFields({ link }))}<span id="all-links" hidden>${shortUrls}</span>${copyButton("all-links", "all short links", "Copy all")}
<button class="button" name="change" value="export" data-stays>CSV</button><button class="button" name="change" value="qr" data-stays>QR codes (ZIP)</button>`
}
<a class="button" href="${LINKS_PATH}">Your links</a><a class="button" href="${PATH}">Another table</a></form>`;
}

const TONES = { created: "good", already: "accent", failed: "bad" } as const;

/** Rows that are equal are one link: of each but the first the place of the first. */
function repeatedRows(rows: readonly ImportedRow[]): ReadonlyMap<ImportedRow, string> {
  const links = rows.flatMap((row) => (row.outcome === "failed" ? [] : [row]));
  const first = new Map(links.toReversed().map(({ link, place }) => [link.key, place]));
  const equal = links.filter(
    ({ outcome, link, place }) => outcome === "already" && first.get(link.key) !== place,
  );
  return new Map(equal.map((row) => [row, first.get(row.link.key) ?? ""]));
}

function columnsOf(isDone: boolean, repeated: ReadonlyMap<ImportedRow, string>): Columns<ImportedRow> {
  const wordsOf = (row: ImportedRow) => {
    if (row.outcome === "failed") return "Not taken";
    if (row.outcome === "created") return isDone ? "Created" : "New";
    return repeated.has(row) ? `Same as ${repeated.get(row)}` : "There already";
  };
  return {
    Row: { cell: ({ place }) => html`<span class="nowrap">${place}</span>`, width: 6 },
    Outcome: {
      cell: (row) => badge(TONES[row.outcome], wordsOf(row)),
      width: 9,
    },
    "Short link": {
      cell(row) {
        if (row.outcome === "failed") return undefined;
        const name = readableUrl(row.link.key);
        const isThere = isDone || (row.outcome === "already" && !repeated.has(row));
        return isThere
          ? html`<a class="clip" href="${linkPath(addressOf(row.link.key))}">${name}</a>`
          : html`<span class="clip">${name}</span>`;
      },
      width: 12,
    },
    Becomes: (row) =>
      row.outcome === "failed"
        ? row.error
        : html`<div>${row.title !== undefined && html`<strong class="clip">${row.title}</strong>`}<span class="cut small" title="${row.longUrl}">${cutInTheMiddle(row.longUrl)}</span></div>`,
  };
}
