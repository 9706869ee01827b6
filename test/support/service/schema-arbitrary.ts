// Values that a JSON Schema of our OpenAPI document describes, and values that are wrong somewhere.
import fc from "fast-check";
import { anyText } from "../runtime/any-text.ts";

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
};

/** Of JSON that is not described at all. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  anyText(60),
  fc.constantFrom(null, -1, 1e308, "", {}, []),
);

const MOST_ITEMS = 5;
/** Of a value with mistakes one node in so many is wrong. */
const WRONG = 15;

/** `all`: what `$ref` names, by its last part. `mistakes`: whether there may be any. */
export type Schemas = { all: Readonly<Record<string, JsonSchema>>; mistakes: boolean };

export function arbitraryOf(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<unknown> {
  const right = rightOf(schema, schemas);
  if (!schemas.mistakes) return right;
  return fc.oneof({ weight: WRONG - 1, arbitrary: right }, { weight: 1, arbitrary: anything });
}

function rightOf(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<unknown> {
  const { $ref, anyOf = schema.oneOf, examples = [] } = schema;
  if ($ref !== undefined) return arbitraryOf(schemas.all[$ref.split("/").at(-1) ?? ""] ?? {}, schemas);
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const described = anyOf
    ? fc.oneof(...anyOf.map((one) => arbitraryOf(one, schemas)))
    : (ofType(schema, schemas) ?? anything);
  if (examples.length === 0) return described;
  // Schemas say less than what is right: an example is.
  const example = fc.constantFrom(...examples);
  return schemas.mistakes ? fc.oneof(described, example) : example;
}

function ofType(schema: JsonSchema, schemas: Schemas): fc.Arbitrary<unknown> | undefined {
  const { type } = schema;
  if (Array.isArray(type))
    return fc.oneof(...type.map((one) => arbitraryOf({ ...schema, type: one }, schemas)));
  switch (type) {
    case "string":
      return textOf(schema);
    case "integer":
      return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 1000 });
    case "number":
      return fc.double({ noNaN: true, min: schema.minimum ?? -5, max: schema.maximum ?? 1000 });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const { minItems: minLength = 0, maxItems = MOST_ITEMS, items = {} } = schema;
      return fc.array(arbitraryOf(items, schemas), {
        minLength,
        maxLength: Math.max(minLength, Math.min(maxItems, MOST_ITEMS)),
      });
    }
    case "object":
      return objectOf(schema, schemas);
  }
  return undefined;
}

function textOf({ format, pattern, minLength = 0, maxLength = 60 }: JsonSchema): fc.Arbitrary<string> {
  if (format === "uuid") return fc.uuid();
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const longest = Math.min(maxLength, 200);
  return fc.oneof(
    fc.string({ minLength: Math.min(minLength, longest), maxLength: longest }),
    fc.webUrl(),
    anyText(longest),
  );
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  schemas: Schemas,
): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, arbitraryOf(one, schemas)]),
  );
  const known = fc.record(members, { requiredKeys: required.filter((name) => name in members) });
  if (typeof additionalProperties !== "object") return schemas.mistakes ? withMistakes(known) : known;
  const more = fc.dictionary(anyText(10), arbitraryOf(additionalProperties, schemas), { maxKeys: 3 });
  return fc.tuple(known, more).map(([own, others]) => ({ ...others, ...own }));
}

/** A member that there is not, or one of those that there are is missing. */
function withMistakes(objects: fc.Arbitrary<object>): fc.Arbitrary<unknown> {
  const mistake = fc.oneof(
    { weight: WRONG, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("more", "less") },
  );
  return fc.tuple(objects, mistake).map(([object, what]) => {
    if (what === "more") return { ...object, unknown: 1 };
    return what === "less" ? Object.fromEntries(Object.entries(object).slice(1)) : object;
  });
}
