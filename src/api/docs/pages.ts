// The pages of /docs: guides, a page for each tag of the OpenAPI document, error codes, limits and schemas. HTML that works
// without a script; nothing comes from elsewhere.
import { html } from "ghtml";
import { BULK_MAX_LINKS, type Limits, STREAM_LIMITS } from "../../events/vocabulary.ts";
import { MOST_EXPORTS } from "../../limits/exports.ts";
import { MOST_STREAMS } from "../events/streams.ts";
import { ERROR_CAUSES } from "../openapi/error-causes.ts";
import { guides } from "./guides.ts";
import {
  article,
  entriesOf,
  idOf,
  type OpenApiDocument,
  type Schemas,
  schemaOf,
  tagAddress,
} from "./operation-article.ts";
import { languageChoice } from "./samples-figure.ts";
import { inline, prose, schemaPage } from "./schema-members.ts";
import { type DocsIndex, docsIndex, type Found, LONGEST_QUERY } from "./search.ts";

/** `name`: the last part of its address; empty for the first page. */
type Page = { name: string; title: string; group: "Guides" | "Reference" | "Tables"; body: string };
export type Docs = {
  pages: ReadonlyMap<string, string>;
  index: DocsIndex;
  search: (q: string, found: readonly Found[]) => string;
};

export function docs(document: OpenApiDocument, limits: Limits): Docs {
  const { info, servers, paths, webhooks, components } = document;
  const baseUrl = servers?.[0]?.url ?? "";
  const entries = [...entriesOf(paths, false), ...entriesOf(webhooks, true)];
  const byTag = [...Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? "Others")];
  const schemas = components?.schemas ?? {};
  const written = guides(baseUrl);
  const contents = byTag.map(([tag, own]) => {
    const list = html`<ul class="contents">!${own.map(
      ({ operation, method, address, isWebhook }) =>
        html`<li><a href="${tagAddress(operation)}#${idOf(operation)}">${operation.summary ?? address}</a> <code>${isWebhook ? address : `${method} ${address}`}</code></li>`,
    )}</ul>`;
    return { tag, list, own };
  });
  const pages: Page[] = [
    ...written.map(
      ({ name, title, lead, body }): Page => ({
        ...{ name, title, group: "Guides" },
        body: html`!${prose(lead)}!${TOOLS}!${body}`,
      }),
    ),
    ...contents.map(
      ({ tag, list, own }): Page => ({
        ...{ name: tag.toLowerCase(), title: tag, group: "Reference" },
        body: html`!${list}!${TOOLS}!${own.map((entry) => article(entry, baseUrl, schemas))}`,
      }),
    ),
    { name: "error-codes", title: "Error codes", group: "Tables", body: errorTable() },
    { name: "limits", title: "Limits by plan", group: "Tables", body: limitTable(limits) },
    { name: "objects", title: "Objects", group: "Tables", body: schemaList(schemas, "objects") },
    { name: "event-types", title: "Event types", group: "Tables", body: schemaList(schemas, "event-types") },
  ];
  const first = html`!${prose(info.description ?? "")}
<p>Its address here is <code>${baseUrl}</code>; its version is ${info.version}. <a href="/openapi.json">openapi.json</a> is the same for programs.</p>
<h2>Guides</h2><ul class="contents">!${written.map(({ name, title, lead }) => html`<li><a href="/docs/${name}">${title}</a> <span>!${inline(lead)}</span></li>`)}</ul>
!${contents.map(({ tag, list }) => html`<h2><a href="/docs/${tag.toLowerCase()}">${tag}</a></h2>!${list}`)}`;
  const whole = (page: Pick<Page, "title" | "body"> & { name?: string }, q = "") =>
    layout(info.title, pages, page, q);
  return {
    pages: new Map([
      ["", whole({ name: "", title: `${info.title} API`, body: first })],
      ...pages.map((page) => [page.name, whole(page)] as const),
    ]),
    index: docsIndex(written, entries, schemas),
    search: (q, found) => whole({ title: "Search", body: results(q, found) }, q),
  };
}

function layout(
  product: string,
  pages: readonly Page[],
  { name, title, body }: { name?: string; title: string; body: string },
  q: string,
): string {
  const group = (of: Page["group"]) =>
    html`<h2>${of}</h2><ul>!${pages
      .filter((page) => page.group === of)
      .map(
        (page) =>
          html`<li><a href="/docs/${page.name}"!${page.name === name ? ' aria-current="page"' : ""}>${page.title}</a></li>`,
      )}</ul>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${product} documentation</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="/docs/docs.css">
<script type="module" src="/docs/docs.js"></script>
</head>
<body>
<header><a href="/"><img src="/favicon.ico" alt="" width="24" height="24">${product}</a>
<form action="/docs/search" role="search"><input type="search" name="q" value="${q}" maxlength="${LONGEST_QUERY}" aria-label="Search the documentation" placeholder="Search: slug_taken, utm, webhook ..."><button>Search</button></form>
<a class="to-pages" href="#pages">Pages</a></header>
<main><h1>${title}</h1>
!${body}</main>
<nav id="pages" aria-label="Pages"><p><a href="/docs"!${name === "" ? ' aria-current="page"' : ""}>Documentation</a></p>!${group("Guides")}!${group("Reference")}!${group("Tables")}</nav>
</body>
</html>
`;
}

/** The choice of a language, and a box for one's own key, which docs.js shows: without a script it could do nothing. */
const TOOLS = html`<div class="tools">!${languageChoice()}<form class="own-key" hidden><label for="own-key">Your API key, for the examples</label>
<div><input id="own-key" autocomplete="off" spellcheck="false" placeholder="ll_..."><button>Fill in</button></div><p>It stays in this tab of your browser. <a href="/portal/keys">Issue one</a>: it is shown once, as nobody keeps its text.</p></form></div>`;

function results(q: string, found: readonly Found[]): string {
  const notice =
    q === "" ? "Type what you look for above." : found.length === 0 ? `Nothing has all words of “${q}”.` : "";
  return html`!${notice && html`<p>${notice}</p>`}<ul class="contents">!${found.map(({ kind, title, about, address }) => html`<li><a href="${address}">!${inline(title)}</a> <small>${kind}</small> <span>!${inline(about)}</span></li>`)}</ul>`;
}

function limitTable({ free, developer, webhooks }: Limits): string {
  const rows: readonly [limit: string, free: string, developer: string][] = [
    ["Requests an hour and key", `${free.requestsPerHour}`, `${developer.requestsPerHour}`],
    ["Active API keys", `${free.activeKeys}`, `${developer.activeKeys}`],
    ["Links in a bulk request", "none", `${BULK_MAX_LINKS}`],
    ["Webhooks", "none", `${webhooks}`],
    ["Streams of events at a time", "none", `${MOST_STREAMS}`],
    bothPlans("Exports at a time", MOST_EXPORTS),
    ["Pages to share", "none", `${STREAM_LIMITS.sharedPages}`],
    ["Weekly mails", "none", `${STREAM_LIMITS.weeklyMails}`],
    bothPlans("Members", STREAM_LIMITS.members),
    bothPlans("Invitations that are open", STREAM_LIMITS.invitations),
    bothPlans("Saved filters", STREAM_LIMITS.savedFilters),
    bothPlans("Tags with a colour", STREAM_LIMITS.tagColours),
    bothPlans("Changes of a link, ever", STREAM_LIMITS.linkChanges),
    bothPlans("Changes of the account, ever", STREAM_LIMITS.accountEvents),
    ["Ranges of time, numbers of the account, single clicks, exports of these", "no", "yes"],
    ["Schedules, passwords, limits of clicks, rules by visitor", "no", "yes"],
  ];
  return html`<table><thead><tr><th scope="col">Of an account</th><th scope="col">Free</th><th scope="col">Developer</th></tr></thead>
<tbody>!${rows.map(([limit, ...values]) => html`<tr><th scope="row">${limit}</th>!${values.map((value) => html`<td>${value}</td>`)}</tr>`)}</tbody></table>
<p>Every answer under <code>/api</code> says in <code>X-RateLimit-Remaining</code> how many requests are left. A bulk request counts as one; redirects and QR codes count as none.</p>`;
}

function bothPlans(limit: string, most: number): [limit: string, free: string, developer: string] {
  const text = most.toLocaleString("en");
  return [limit, text, text];
}

function errorTable(): string {
  const rows = Object.entries(ERROR_CAUSES).flatMap(([status, causes]) =>
    Object.entries(causes).map(([code, cause]) => ({ status, code, cause })),
  );
  return html`<p>What programs do about them: <a href="/docs/guide-errors">the guide</a>.</p><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Cause</th></tr></thead>
<tbody>!${rows.map(({ status, code, cause }) => html`<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td>${status}</td><td>!${prose(cause)}</td></tr>`)}</tbody></table>`;
}

function schemaList(schemas: Schemas, page: ReturnType<typeof schemaPage>): string {
  const own = Object.entries(schemas).filter(([name]) => schemaPage(name) === page);
  return html`!${own.map(
    ([name, schema]) =>
      html`<article id="schema-${name}"><h2><a href="#schema-${name}">${name}</a></h2>!${prose(schema.description ?? "")}<details><summary>Members</summary>!${schemaOf(schema)}</details></article>`,
  )}`;
}
