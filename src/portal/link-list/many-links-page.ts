// GET and POST /portal/links/many: links from a list that is pasted, by the rules of `linkledger import csv`: first a
// preview of what becomes of each row, then the same as a report.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { opened } from "../../commands/account/account.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { BULK_MAX_LINKS, hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { Refused } from "../../runtime/refused.ts";
import { plainCsv } from "../../transfer/import/formats/plain-csv.ts";
import { textSource } from "../../transfer/import/lines.ts";
import { readRows } from "../../transfer/import/read-rows.ts";
import { type ImportedRow, type ImportReport, runImport } from "../../transfer/import/run-import.ts";
import { count, counted, linkPath } from "../links/link-view.ts";
import { openedByOperator } from "../links/new-link-page.ts";
import { readableUrl } from "../links/urls.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countChange } from "../shell/change-limit.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type Columns, card, pageHead, table } from "../shell/parts.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/refused-form.ts";
import { requireSession, type SignedIn, signedIn } from "../shell/sessions.ts";
import { LINKS_PATH } from "./links-filters.ts";

const PATH = "/portal/links/many";
const MOST_ROWS = 500;
const MOST_CHARACTERS = 300_000;
/** Of the form: its text, of which a browser writes many characters as three bytes or more. */
const FORM_BYTES = 1_048_576;
const LIST = "The list";

const ManyForm = z.object({
  list: z.string().default(""),
  act: z.enum(["preview", "create"]).default("preview"),
});

/** What becomes, or became, of each row. */
type Outcome = { rows: ImportedRow[]; report: ImportReport; isDone: boolean };

export function manyLinksPage(app: Api, deps: PortalDeps): void {
  app.get("/links/many", { preHandler: requireSession }, (_, reply) => sendMany(deps, reply, ""));

  formRoute(app, deps, "/links/many", {
    schema: { body: ManyForm },
    bodyLimit: FORM_BYTES,
    async run({ reply, session, context, body: { list, act } }) {
      requireDeveloper(session.tier, "Lists of links", "list");
      const isDone = act === "create";
      const rowCount = await countRows(list);
      // As many rows for a change of the hour as in a bulk request, the form being the first; a preview checks as much.
      for (let n = BULK_MAX_LINKS; n < rowCount; n += BULK_MAX_LINKS) await countChange(deps, session);
      const rows: ImportedRow[] = [];
      const report = await runImport(deps.links, await targetOf(deps, session, context, !isDone), {
        format: plainCsv,
        links: textSource(LIST, list),
        clicks: undefined,
        onRow: (row) => void rows.push(row),
      });
      const position = isDone ? lastPosition(rows) : undefined;
      return { position, to: () => sendMany(deps, reply, list, { rows, report, isDone }) };
    },
    again: (refused, _, reply) => sendMany(deps, reply, typedText(refused.typed, "list"), undefined, refused),
    path: PATH,
  });
}

/** @throws invalid_request for an empty list and for one that is too long */
async function countRows(list: string): Promise<number> {
  const refuse = (why: string): never => {
    throw new Refused("invalid_request", why, { field: "list" });
  };
  if (list.trim() === "") refuse("Paste at least one address.");
  if (list.length > MOST_CHARACTERS)
    refuse(
      `The list has ${count(list.length)} characters, and may have ${count(MOST_CHARACTERS)}: paste it in parts.`,
    );
  let rows = 0;
  for await (const row of readRows(textSource(LIST, list))) {
    rows += "error" in row ? row.rows : 1;
    if (rows > MOST_ROWS)
      refuse(
        `The list has more than ${count(MOST_ROWS)} rows: paste it in parts, each with the line of column names.`,
      );
  }
  return rows;
}

async function targetOf(
  deps: PortalDeps,
  { accountId }: SignedIn,
  context: Parameters<typeof runImport>[1]["context"],
  dryRun: boolean,
): Promise<Parameters<typeof runImport>[1]> {
  const account = opened(await deps.links.currentAccount(accountId));
  const { baseHostSlugs } = deps.links;
  return { account, context, domain: undefined, keyId: undefined, dryRun, byOwner: { baseHostSlugs } };
}

function lastPosition(rows: readonly ImportedRow[]) {
  const positions = rows.flatMap((row) =>
    "position" in row && row.position !== undefined ? [row.position] : [],
  );
  return positions.sort().at(-1);
}

function sendMany(
  { links: { baseHostSlugs } }: PortalDeps,
  reply: FastifyReply,
  list: string,
  outcome?: Outcome,
  refused?: RefusedForm,
): FastifyReply {
  const mayCreate = hasDeveloperFeatures(signedIn(reply.request).tier);
  return sendPage(reply, {
    title: "Many at once",
    nav: "Links",
    status: refused?.status,
    notice: refused && noticeOf(refused, "list"),

    body: html`${pageHead("Many at once", {
      above: html`<a href="${LINKS_PATH}">Links</a>`,
      lead: "Paste a list, see what will become of each row, then make the links.",
    })}
${mayCreate ? html`${outcome && outcomeCard(list, outcome)}${!outcome?.isDone && listCard(list, errorOf(refused, "list"), baseHostSlugs)}` : upgrade}`,
  });
}

const upgrade = card(
  "With the Developer plan",
  html`<p>Links from a list come with the <a href="/portal/plan">Developer plan</a>, as bulk requests of the API do.</p>`,
);

function listCard(list: string, error: string | undefined, baseHostSlugs: boolean): Html {
  return html`<section class="card"><form class="form" method="post" action="${PATH}">${hiddenFields({ act: "preview" })}
${field({
  label: "Addresses, one a line, or a table with a line of column names",
  name: "list",
  value: list,
  error,
  rows: 10,
  required: true,
  placeholder: "https://example.com/one\nhttps://example.com/two",
  hint: html`At most ${count(MOST_ROWS)} rows. Columns of a table, in any order: url, and if you like slug, domain, title, tags, comments, external_id, expires_at and <a href="/docs">all else a link can have</a>; separated by commas, semicolons or tabs, as spreadsheets copy them.${!baseHostSlugs && html` A row with a slug needs a domain of yours; elsewhere slugs are random, and ${openedByOperator}.`}`,
})}
<div class="actions"><button class="button button-primary">Preview</button><label class="button" hidden>Open a file<input type="file" class="visually-hidden" accept=".csv,.tsv,.txt,.json" data-into="field-list"></label></div></form></section>`;
}

function outcomeCard(list: string, { rows, report, isDone }: Outcome): Html {
  const { read, created, already, failed } = report.links;
  // What is to be mended in a long list is seen at once.
  const refusedFirst = rows.toSorted(
    (a, b) => Number(b.outcome === "failed") - Number(a.outcome === "failed"),
  );
  const lost = Object.entries(report.fields).filter(([, { becomes }]) => becomes === undefined);
  const create =
    !isDone &&
    created > 0 &&
    html`<form method="post" action="${PATH}">${hiddenFields({ act: "create", list })}<button class="button button-primary">Create ${counted(created, "link")}</button></form>`;
  const title = isDone ? `${counted(created, "link")} created` : "Preview";
  const parts = [
    `${count(created)} ${isDone ? "created" : "will be created"}`,
    already > 0 && `${count(already)} ${already === 1 ? "is" : "are"} there already`,
    failed > 0 && `${count(failed)} can’t be taken`,
  ].filter(Boolean);
  const more =
    isDone &&
    html`<a class="button" href="${LINKS_PATH}">Your links</a><a class="button" href="${PATH}">Another list</a>`;
  return card(
    title,
    html`${lost.map(([name, { left_out: why = "it is no field of a link" }]) => html`<p class="small muted">The column ${name} is left out: ${why}.</p>`)}
${report.missing.map(({ note }) => html`<p class="small muted">Not all: ${note}.</p>`)}
${report.notes.map(({ place, note }) => html`<p class="small muted">${place}: ${note}.</p>`)}
${table(title, columns(isDone), refusedFirst)}`,
    {
      lead: `${counted(read, "row")}: ${parts.join(", ")}.`,
      actions: html`<div class="actions">${create}${more}</div>`,
    },
  );
}

function columns(isDone: boolean): Columns<ImportedRow> {
  const words = { created: isDone ? "Created" : "New", already: "There already", failed: "Not taken" };
  const tones = { created: "good", already: "accent", failed: "bad" };
  const address = (row: ImportedRow) => {
    if (row.outcome === "failed") return undefined;
    const [host = "", slug = ""] = row.link.key.split("/");
    const name = readableUrl(row.link.key);
    const isThere = isDone || row.outcome === "already";
    return isThere
      ? html`<a class="clip" href="${linkPath({ host, slug })}">${name}</a>`
      : html`<span class="clip">${name}</span>`;
  };
  return {
    Row: { cell: ({ place }) => html`<span class="nowrap">${place}</span>`, width: 9 },
    Outcome: {
      cell: (row) => html`<span class="badge badge-${tones[row.outcome]}">${words[row.outcome]}</span>`,
      width: 9,
    },
    "Short link": address,
    Destination: (row) =>
      row.outcome === "failed"
        ? row.error
        : html`<span class="clip" title="${row.longUrl}">${readableUrl(row.longUrl)}</span>`,
  };
}
