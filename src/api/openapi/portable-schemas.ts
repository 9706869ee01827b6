// Rewrites the JSON Schemas that zod makes into those that generators of clients compile: no type of `null` alone, no
// unions within unions, no tuples.

type Schema = Record<string, unknown>;

/** Any part of an OpenAPI document, with all schemas in it. */
export function portable<T>(part: T): T {
  // Inner unions come first, as JSON is revived from its leaves.
  return JSON.parse(JSON.stringify(part), (_name, value: unknown) =>
    isSchema(value) ? withoutTuple(withoutUnion(value)) : value,
  ) as T;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutUnion({ anyOf, ...outer }: Schema): Schema {
  if (!Array.isArray(anyOf)) return outer;
  const all = (anyOf as Schema[]).flatMap(membersOf);
  const isNullable = all.some(({ type }) => type === "null");
  const members = withoutConstants(all.filter(({ type }) => type !== "null"));
  const last = members.at(-1);
  if (isNullable && last) members[members.length - 1] = nullable(last);
  const inner: Schema = Object.assign({}, ...(anyOf as Schema[]).filter(isUnion));
  delete inner.anyOf;
  return { ...(members.length === 1 ? members[0] : { anyOf: members }), ...inner, ...outer };
}

function isUnion({ anyOf }: Schema): boolean {
  return Array.isArray(anyOf);
}

function membersOf(schema: Schema): Schema[] {
  return isUnion(schema) ? (schema.anyOf as Schema[]) : [schema];
}

/** Constants of one type are an enumeration. */
function withoutConstants(members: Schema[]): Schema[] {
  const type = members[0]?.type;
  if (!members.every((member) => "const" in member && member.type === type)) return members;
  const values = members.map(({ const: constant }) => constant);
  return [{ type: values.every(Number.isInteger) ? "integer" : type, enum: values }];
}

/** A schema by its name stays as it is: generators take no union of it with null. */
function nullable(schema: Schema): Schema {
  const { type, const: constant, enum: values, ...rest } = schema;
  if (type === undefined) return schema;
  const allowed = constant === undefined ? values : [constant];
  const either = { ...rest, type: [type, "null"].flat() };
  if (!Array.isArray(allowed)) return either;
  // Generators for Go take no null beside numbers: these are described by their bounds.
  if (allowed.every(Number.isInteger))
    return {
      ...either,
      type: ["integer", "null"],
      minimum: Math.min(...allowed),
      maximum: Math.max(...allowed),
    };
  return { ...either, enum: [...allowed, null] };
}

function withoutTuple(schema: Schema): Schema {
  const { prefixItems, items: _, ...rest } = schema;
  if (!Array.isArray(prefixItems)) return schema;
  const different = new Map(
    (prefixItems as Schema[]).flatMap(membersOf).map((item) => [JSON.stringify(item), item]),
  );
  const members = [...different.values()];
  const items = members.length === 1 ? members[0] : { anyOf: members };
  return { ...rest, items, minItems: prefixItems.length, maxItems: prefixItems.length };
}
