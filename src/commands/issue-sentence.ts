// Says in our words what a schema allows where a value is refused: no sentence of zod's own reaches a caller.
import type { z } from "zod";

type Issue = z.core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: "a time in ISO 8601, such as 2026-11-01T09:30:00Z",
  date: "a date such as 2026-11-01",
  uuid: "a UUID",
  url: "a URL",
  email: "an e-mail address",
};

/** What is counted of texts and lists; numbers are compared themselves. */
const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "values" };

/**
 * For a value that a schema has no message for, which comes first: what it must be, to be read after the name of
 * the field, such as `must be at least 1`.
 */
function issueSentence(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? `is missing: ${typeOf(issue)}` : typeOf(issue);
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return bound(issue, issue.minimum, issue.inclusive === false ? "more than" : "at least");
    case "too_big":
      return bound(issue, issue.maximum, issue.inclusive === false ? "less than" : "at most");
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return `must be ${FORMATS[issue.format] ?? `a text that fits ${issue.pattern ?? issue.format}`}`;
    case "unrecognized_keys":
      return `can't have ${issue.keys.map((key) => `"${key}"`).join(", ")}: it takes ${membersOf(issue).join(", ")}`;
    case "invalid_union":
      return [...new Set(issue.errors.flatMap(([first]) => first?.message ?? []))].join(", or ");
    case "invalid_key":
      return `must have other names: a name ${issue.issues[0]?.message}`;
    case "invalid_element":
      return `must have other values: a value ${issue.issues[0]?.message}`;
    default:
      return "must be another value";
  }
}

function typeOf({ expected }: Issue & { code: "invalid_type" }): string {
  return `must be ${TYPES[expected] ?? expected}`;
}

function bound({ origin }: Issue & { origin?: unknown }, limit: unknown, how: string): string {
  const unit = UNITS[String(origin)];
  if (unit === undefined) return `must be ${how} ${limit}`;
  if (how === "at least" && limit === 1) return "must not be empty";
  return `must have ${how} ${limit} ${unit}`;
}

function membersOf({ inst }: Issue): string[] {
  const { shape = {} } = (inst?._zod.def ?? {}) as { shape?: object };
  return Object.keys(shape);
}

/** Options for `safeParse` of whatever comes from outside. */
export const OUR_WORDS = { error: issueSentence };
