// Recognises data that a schema would return unchanged: for clicks that takes a tenth of the time of parsing them.
import type { z } from "zod";

/** True only if parsing by the schema would succeed and give equal data; false says nothing. */
export type IsAsWritten = (data: unknown) => boolean;

/** Text whose pattern is all that zod checks; of others, such as base64, it checks more. */
const BY_PATTERN = ["uuid", "datetime"];

type Definition = {
  type: string;
  pattern?: RegExp;
  format?: string;
  checks?: readonly { _zod: { def: { check: string; format?: string } } }[];
  entries?: Record<string, string>;
  innerType?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
  catchall?: unknown;
};

/** Source text of a condition, with the objects that it refers to. Undefined for schemas that are not supported. */
type Conditions = { constants: unknown[]; of(schema: z.core.$ZodType, value: string): string | undefined };

/** Compiled, as zod compiles schemas itself: a closure for each member would take five times as long. */
export function isAsWritten(schema: z.ZodType): IsAsWritten {
  const { constants, of } = conditions();
  const condition = of(schema, "data");
  if (condition === undefined) return () => false;
  const compile = new Function("constants", "membersOf", `return (data) => ${condition};`);
  return compile(constants, membersOf) as IsAsWritten;
}

function conditions(): Conditions {
  const constants: unknown[] = [];
  const constant = (value: unknown) => `constants[${constants.push(value) - 1}]`;
  const of: Conditions["of"] = (schema, value) => {
    const { type, pattern, format, checks = [], entries, shape, catchall } = definitionOf(schema);
    if (checks.length > 0 && type !== "number") return undefined;
    switch (type) {
      case "string":
        if (format !== undefined && !(pattern && BY_PATTERN.includes(format))) return undefined;
        return `typeof ${value} === "string"${pattern ? ` && ${constant(pattern)}.test(${value})` : ""}`;
      case "number":
        return format === undefined && checks.length === 1 && isInteger(checks[0])
          ? `Number.isSafeInteger(${value})`
          : undefined;
      case "boolean":
        return `typeof ${value} === "boolean"`;
      case "enum":
        return `${constant(new Set(Object.values(entries ?? {})))}.has(${value})`;
      case "object":
        return shape && catchall === undefined ? ofObject(shape, value, of) : undefined;
      default:
        return undefined;
    }
  };
  return { constants, of };
}

/** All members that the schema names, but for absent optional ones, and no other. */
function ofObject(
  shape: Record<string, z.core.$ZodType>,
  value: string,
  of: Conditions["of"],
): string | undefined {
  const all: string[] = [];
  const counted: string[] = [];
  let required = 0;
  for (const [name, schema] of Object.entries(shape)) {
    const member = `${value}[${JSON.stringify(name)}]`;
    const { type, innerType } = definitionOf(schema);
    const isOptional = type === "optional" && innerType !== undefined;
    const condition = of(isOptional ? innerType : schema, member);
    if (condition === undefined) return undefined;
    all.push(isOptional ? `(${member} === undefined || ${condition})` : condition);
    if (isOptional) counted.push(`(${member} === undefined ? 0 : 1)`);
    else required += 1;
  }
  const members = [String(required), ...counted].join(" + ");
  const isObject = `typeof ${value} === "object" && ${value} !== null && !Array.isArray(${value})`;
  return [isObject, ...all, `membersOf(${value}) === ${members}`].join(" && ");
}

function membersOf(value: object): number {
  let members = 0;
  for (const _ in value) members += 1;
  return members;
}

function isInteger(check: NonNullable<Definition["checks"]>[number] | undefined): boolean {
  return check?._zod.def.check === "number_format" && check._zod.def.format === "safeint";
}

function definitionOf(schema: z.core.$ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}
