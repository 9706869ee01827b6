// The types of the client's calls in the form that openapi-fetch reads, from the OpenAPI document of this service: they can't
// be others than the service's.
import type { OpenApiDocument, Operation } from "../docs/operation-article.ts";
import type { Schema } from "../docs/schema-members.ts";

const PLACES = ["query", "header", "path", "cookie"] as const;

/** TypeScript declarations: `paths`, `webhooks`, `operations` and `components`. */
export function apiTypes({ paths = {}, webhooks = {}, components = {} }: OpenApiDocument): string {
  const operations = [paths, webhooks].flatMap((group) => Object.values(group).flatMap(Object.values));
  const schemas = members(Object.entries(components.schemas ?? {}), ([name, schema]) =>
    member(name, typeOf(schema), schema.description),
  );
  return `// Written by the service that this package comes from.
export interface paths ${methodsOf(paths)}
export interface webhooks ${methodsOf(webhooks)}
export interface operations ${members(operations, (operation) => member(operation.operationId ?? "", operationType(operation)))}
export interface components { schemas: ${schemas} }
`;
}

function methodsOf(group: NonNullable<OpenApiDocument["paths"]>): string {
  return members(Object.entries(group), ([address, methods]) => {
    const named = members(Object.entries(methods), ([method, { operationId, summary, description }]) =>
      member(method, `operations[${text(operationId)}]`, [summary, description].filter(Boolean).join("\n\n")),
    );
    return member(address, named);
  });
}

function operationType({ parameters = [], requestBody, responses = {} }: Operation): string {
  const places = members(PLACES, (place) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    const isRequired = here.some(({ required }) => required);
    const all = members(here, ({ name, schema = {}, description, required = false }) =>
      member(name, typeOf(schema), description, required),
    );
    return member(place, here.length === 0 ? "never" : all, undefined, isRequired);
  });
  const answers = members(Object.entries(responses), ([status, { content, description }]) => {
    const headers = "headers: { [name: string]: unknown }";
    return `${comment(description)}${/^\d+$/.test(status) ? status : text(status)}: { ${headers}; ${contentOf(content)} };`;
  });
  const body = requestBody ? `requestBody: { ${contentOf(requestBody.content)} }` : "requestBody?: never";
  return `{ parameters: ${places}; ${body}; responses: ${answers} }`;
}

function contentOf(content: NonNullable<Operation["requestBody"]>["content"] | undefined): string {
  if (!content) return "content?: never";
  const types = members(Object.entries(content), ([type, { schema = {} }]) => member(type, typeOf(schema)));
  return `content: ${types}`;
}

function typeOf(schema: Schema): string {
  const { $ref, enum: values, const: constant, anyOf, oneOf, allOf, type, items } = schema;
  if ($ref) return `components["schemas"][${text($ref.slice($ref.lastIndexOf("/") + 1))}]`;
  if (values) return union(values.map(text));
  if (constant !== undefined) return text(constant);
  const choices = anyOf ?? oneOf;
  if (choices) return union(choices.map(typeOf));
  if (allOf) return `(${allOf.map(typeOf).join(" & ")})`;
  if (Array.isArray(type)) return union(type.map((alternative) => typeOf({ ...schema, type: alternative })));
  if (type === "array") return `${items ? typeOf(items) : "unknown"}[]`;
  if (type === "object") return objectType(schema);
  if (type === "integer") return "number";
  return ["string", "number", "boolean", "null"].includes(String(type)) ? String(type) : "unknown";
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  const named =
    properties &&
    members(Object.entries(properties), ([name, schema]) =>
      member(name, typeOf(schema), schema.description, required.includes(name)),
    );
  const others =
    typeof additionalProperties === "object" && `{ [name: string]: ${typeOf(additionalProperties)} }`;
  return [named, others].filter(Boolean).join(" & ") || "{ [name: string]: unknown }";
}

function members<T>(items: readonly T[], write: (item: T) => string): string {
  return `{\n${items.map(write).join("\n")}\n}`;
}

function member(name: string, type: string, description?: string, isRequired = true): string {
  return `${comment(description)}${text(name)}${isRequired && type !== "never" ? "" : "?"}: ${type};`;
}

function union(types: readonly string[]): string {
  return `(${types.join(" | ")})`;
}

function comment(description = ""): string {
  return description === "" ? "" : `/** ${description.replaceAll("*/", "* /")} */\n`;
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
