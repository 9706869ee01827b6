// An operation, or a webhook, of the OpenAPI document as an article of /docs: what it takes, what it answers, and how it is
// sent.
import { html } from "ghtml";
import { type AnswerKind, samplesOf } from "./code-samples.ts";
import { figure, samples } from "./samples-figure.ts";
import { type Member, memberList, membersOf, prose, type Schema, typeOf } from "./schema-members.ts";

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
export type Entry = { address: string; method: string; operation: Operation; isWebhook: boolean };
export type Schemas = Readonly<Record<string, Schema>>;

export function entriesOf(paths: Readonly<Record<string, Methods>> | undefined, isWebhook: boolean): Entry[] {
  return Object.entries(paths ?? {}).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      address,
      method: method.toUpperCase(),
      operation,
      isWebhook,
    })),
  );
}

/** `baseUrl`: of the addresses in examples. */
export function article(entry: Entry, baseUrl: string, schemas: Schemas): string {
  const { address, method, operation, isWebhook } = entry;
  const { summary = address, description = "", parameters = [], requestBody, responses = {} } = operation;
  const all = Object.entries(responses);
  const refusals = all.filter(([status]) => /^[45]/.test(status));
  const answers = all.filter((answer) => !refusals.includes(answer));
  return html`<article id="${idOf(operation)}"><h2><a href="#${idOf(operation)}">${summary}</a></h2>
<p class="address"><b>${method}</b> <code>!${isWebhook ? html`your endpoint: ${address}` : html`${address}`}</code></p>
<div class="columns"><div>
!${prose(description)}
!${parameters.length > 0 ? html`<h3>${isWebhook ? "Headers" : "Parameters"}</h3>!${memberList(parameters.map((parameter) => memberOf(parameter, isWebhook)))}` : ""}
!${requestBody ? html`<h3>Body</h3>!${bodyOf(requestBody.content, schemas)}` : ""}
<h3>Answers</h3>
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
  const byName = schemas[schema.$ref?.split("/").at(-1) ?? ""];
  return byName ? html`<p>!${typeOf(schema)}</p>!${schemaOf(byName)}` : schemaOf(schema);
}

export function schemaOf(schema: Schema): string {
  const members = membersOf(schema);
  const isWhole = members.length === 1 && members[0]?.name === "";
  return isWhole ? html`<p>!${typeOf(schema)}</p>` : memberList(members);
}

/** One request for each example of a body, or one without a body. */
function requestExamples(entry: Entry, baseUrl: string): string {
  const bodies = examplesOf(entry.operation.requestBody?.content);
  const [first = ["", undefined] as const, ...others] = bodies;
  const titleOf = (name: string) => (name === "" ? "Request" : `Request: ${name}`);
  const codeOf = (body: unknown) => samplesOf(sampleRequest(entry, baseUrl, body));
  const rest = others.map(
    ([name, body]) =>
      html`<details><summary>${titleOf(name)}</summary>!${samples("", codeOf(body))}</details>`,
  );
  return html`!${samples(titleOf(first[0]), codeOf(first[1]))}!${rest}`;
}

/** With the examples of the parameters that it needs. */
function sampleRequest({ address, method, operation }: Entry, baseUrl: string, body: unknown) {
  const { parameters = [], security, responses = {} } = operation;
  const needed = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place && parameter.required)
      .map(({ name, example }) => [name, String(example ?? name)] as const);
  const [inPath, inQuery] = [Object.fromEntries(needed("path")), Object.fromEntries(needed("query"))];
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const answer = success ? answerKind(Object.keys(success.content ?? {})) : "redirect";
  return { method, baseUrl, path: address, inPath, inQuery, needsKey: security?.length !== 0, body, answer };
}

function answerKind([type]: readonly string[]): AnswerKind {
  if (type === undefined) return "nothing";
  if (type === "text/event-stream") return "stream";
  if (type.startsWith("image/")) return "file";
  return type === "application/json" ? "json" : "text";
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

export function idOf({ operationId = "" }: Operation): string {
  return operationId;
}

/** The page of the first tag. */
export function tagAddress({ tags }: Operation): string {
  return `/docs/${(tags?.[0] ?? "others").toLowerCase()}`;
}
