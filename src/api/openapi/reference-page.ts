// The OpenAPI document as one page for readers: HTML and a style sheet, nothing that runs, nothing from elsewhere.
import { html } from "ghtml";
import { BULK_MAX_LINKS, type Limits } from "../../events/vocabulary.ts";
import { ERROR_CAUSES } from "./error-causes.ts";
import { type Member, memberList, membersOf, prose, type Schema, typeOf } from "./reference-schemas.ts";

type Media = { schema?: Schema; example?: unknown; examples?: Readonly<Record<string, { value: unknown }>> };
type Content = Readonly<Record<string, Media>>;
type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
};
export type Operation = {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  security?: readonly unknown[];
  parameters?: readonly Parameter[];
  requestBody?: { content: Content };
  responses?: Readonly<Record<string, { description?: string; content?: Content }>>;
};
type Methods = Readonly<Record<string, Operation>>;
export type OpenApiDocument = {
  info: { title: string; version: string; description?: string };
  servers?: readonly { url: string }[];
  paths?: Readonly<Record<string, Methods>>;
  webhooks?: Readonly<Record<string, Methods>>;
  components?: { schemas?: Schemas };
};
/** `address`: a path of the API; of a webhook, which is sent to an address of the reader's, its event. */
type Entry = { address: string; method: string; operation: Operation; isWebhook: boolean };
type Schemas = Readonly<Record<string, Schema>>;

export function referencePage(
  { info, servers, paths, webhooks, components }: OpenApiDocument,
  limits: Limits,
): string {
  const entries = [...entriesOf(paths, false), ...entriesOf(webhooks, true)];
  const byTag = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? "Others");
  const schemas = components?.schemas ?? {};
  const baseUrl = servers?.[0]?.url ?? "";
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API documentation · ${info.title}</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
<header><a href="/"><img src="/favicon.ico" alt="" width="24" height="24">${info.title}</a> <a href="/openapi.json">openapi.json</a></header>
<nav aria-label="Contents">!${[...byTag].map(
    ([tag, own]) => html`<h2><a href="#tag-${tag}">${tag}</a></h2>
<ul>!${own.map(({ operation, address, isWebhook }) => html`<li><a href="#${idOf(operation)}">!${isWebhook ? html`<code>${address}</code>` : html`${operation.summary ?? address}`}</a></li>`)}</ul>`,
  )}<h2><a href="#limits">Limits</a></h2><h2><a href="#errors">Error codes</a></h2><h2><a href="#schemas">Schemas</a></h2></nav>
<main>
<h1>${info.title} API <small>${info.version}</small></h1>
!${prose(info.description ?? "")}
<p>Its address here is <code>${baseUrl}</code>.</p>
!${[...byTag].map(
    ([tag, own]) => html`<section id="tag-${tag}"><h2>${tag}</h2>
!${own.map((entry) => article(entry, baseUrl, schemas))}</section>`,
  )}
!${limitsSection(limits)}!${errorsSection()}
<section id="schemas"><h2>Schemas</h2>
!${Object.entries(schemas).map(
    ([name, schema]) => html`<article id="schema-${name}"><h3>${name}</h3>
!${prose(schema.description ?? "")}!${schemaOf(schema)}</article>`,
  )}</section>
</main>
</body>
</html>
`;
}

function limitsSection({ free, developer, webhooks }: Limits): string {
  const rows: readonly [limit: string, free: string, developer: string][] = [
    ["Requests an hour and key", `${free.requestsPerHour}`, `${developer.requestsPerHour}`],
    ["Active API keys", `${free.activeKeys}`, `${developer.activeKeys}`],
    ["Links in a bulk request", "none", `${BULK_MAX_LINKS}`],
    ["Webhooks", "none", `${webhooks}`],
  ];
  return html`<section id="limits"><h2>Limits</h2><table><thead><tr><th scope="col">Of an account</th><th scope="col">Free</th><th scope="col">Developer</th></tr></thead>
<tbody>!${rows.map(([limit, ...values]) => html`<tr><th scope="row">${limit}</th>!${values.map((value) => html`<td>${value}</td>`)}</tr>`)}</tbody></table></section>`;
}

function errorsSection(): string {
  const rows = Object.entries(ERROR_CAUSES).flatMap(([status, causes]) =>
    Object.entries(causes).map(([code, cause]) => ({ status, code, cause })),
  );
  return html`<section id="errors"><h2>Error codes</h2><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Cause</th></tr></thead>
<tbody>!${rows.map(({ status, code, cause }) => html`<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td>${status}</td><td>!${prose(cause)}</td></tr>`)}</tbody></table></section>`;
}

function entriesOf(paths: Readonly<Record<string, Methods>> | undefined, isWebhook: boolean): Entry[] {
  return Object.entries(paths ?? {}).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      address,
      method: method.toUpperCase(),
      operation,
      isWebhook,
    })),
  );
}

function article(entry: Entry, baseUrl: string, schemas: Schemas): string {
  const { address, method, operation, isWebhook } = entry;
  const { summary = address, description = "", parameters = [], requestBody, responses = {} } = operation;
  const all = Object.entries(responses);
  const refusals = all.filter(([status]) => /^[45]/.test(status));
  const answers = all.filter((answer) => !refusals.includes(answer));
  return html`<article id="${idOf(operation)}"><h3><a href="#${idOf(operation)}">${summary}</a></h3>
<p class="address"><b>${method}</b> <code>!${isWebhook ? html`your endpoint: ${address}` : html`${address}`}</code></p>
<div class="columns"><div>
!${prose(description)}
!${parameters.length > 0 ? html`<h4>${isWebhook ? "Headers" : "Parameters"}</h4>!${memberList(parameters.map((parameter) => memberOf(parameter, isWebhook)))}` : ""}
!${requestBody ? html`<h4>Body</h4>!${bodyOf(requestBody.content, schemas)}` : ""}
<h4>Answers</h4>
<dl class="members">!${answers.map(answerOf)}</dl>
!${refusals.length > 0 ? html`<details><summary>Refusals: ${refusals.map(([status]) => status).join(", ")}</summary><dl class="members">!${refusals.map(answerOf)}</dl></details>` : ""}
</div><div class="examples">!${isWebhook ? "" : requestExamples(entry, baseUrl)}!${isWebhook ? bodyExamples("Body", requestBody?.content) : ""}
!${all.map(([status, { content }]) => bodyExamples(`Answer: ${status}`, content))}</div></div></article>`;
}

function memberOf(parameter: Parameter, isWebhook: boolean): Member {
  const { name, in: place, required = false, description, schema = {}, example } = parameter;
  const shown = example === undefined ? schema : { ...schema, examples: [example] };
  const text = description ?? schema.description ?? "";
  return {
    name,
    isRequired: required,
    schema: shown,
    description: place === "header" && !isWebhook ? `In a header. ${text}` : text,
  };
}

function answerOf([status, { description = "", content = {} }]: [
  string,
  { description?: string; content?: Content },
]): string {
  const types = Object.entries(content).map(([type, { schema = {} }]) =>
    type === "application/json" ? typeOf(schema) : html`<code>${type}</code>`,
  );
  return html`<div><dt><code>${status}</code> <span>!${types.join(" or ")}</span></dt><dd>!${prose(description)}</dd></div>`;
}

/** A body of a name with its members, so that they are read where they are wanted. */
function bodyOf(content: Content, schemas: Schemas): string {
  const [{ schema = {} } = {}] = Object.values(content);
  const named = schemas[schema.$ref?.split("/").at(-1) ?? ""];
  return named ? html`<p>!${typeOf(schema)}</p>!${schemaOf(named)}` : schemaOf(schema);
}

function schemaOf(schema: Schema): string {
  const members = membersOf(schema);
  const isWhole = members.length === 1 && members[0]?.name === "";
  return isWhole ? html`<p>!${typeOf(schema)}</p>` : memberList(members);
}

/** One command for each example of a body, or one without a body. */
function requestExamples({ address, method, operation }: Entry, baseUrl: string): string {
  const { parameters = [], requestBody, security } = operation;
  const path = address.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(parameters.find((parameter) => parameter.name === name)?.example ?? name),
  );
  const verb = method === "GET" ? "" : method === "HEAD" ? " -I" : ` -X ${method}`;
  const command = `curl${verb} ${baseUrl}${path}`;
  const withKey = security?.length === 0 ? command : `${command} \\\n  -H "X-API-Key: $KEY"`;
  const bodies = examplesOf(requestBody?.content);
  const commands = bodies.map(([name, body]) => {
    const text = JSON.stringify(body, undefined, 2).replaceAll("'", "'\\''");
    return [name, `${withKey} \\\n  -H 'Content-Type: application/json' -d '${text}'`] as const;
  });
  const [first = ["", withKey] as const, ...others] = commands;
  const rest = others.map(
    ([name, text]) => html`<details><summary>Request: ${name}</summary>!${code(text)}</details>`,
  );
  return html`!${figure(first[0] === "" ? "Request" : `Request: ${first[0]}`, first[1])}!${rest}`;
}

function bodyExamples(title: string, content: Content | undefined): string {
  return examplesOf(content)
    .map(([, value]) => figure(title, JSON.stringify(value, undefined, 2)))
    .join("");
}

function examplesOf(content: Content | undefined): [name: string, value: unknown][] {
  return Object.values(content ?? {}).flatMap(({ example, examples = {} }): [string, unknown][] =>
    example === undefined
      ? Object.entries(examples).map(([name, { value }]) => [name, value])
      : [["", example]],
  );
}

function figure(title: string, text: string): string {
  return html`<figure><figcaption>${title}</figcaption>!${code(text)}</figure>`;
}

/** Whoever has no mouse scrolls it by the keyboard. */
function code(text: string): string {
  return html`<pre tabindex="0">${text}</pre>`;
}

function idOf({ operationId = "" }: Operation): string {
  return operationId;
}
