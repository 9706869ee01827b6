// What a schema refuses without a message of its own is said in our words: what is allowed, whatever kind of issue it is.
import { expect, it } from "vitest";
import { z } from "zod";
import { OUR_WORDS } from "../../../src/commands/issue-sentence.ts";

const CASES: [what: string, schema: z.ZodType, value: unknown, sentence: string][] = [
  ["nothing", z.string(), undefined, "is missing: must be a text"],
  ["another type", z.number(), "x", "must be a number"],
  ["no number", z.coerce.number(), "x", "must be a number"],
  ["a fraction", z.int(), 1.5, "must be a whole number"],
  ["no list", z.array(z.string()), {}, "must be a list"],
  ["no object", z.object({}), null, "must be an object"],
  ["no truth", z.boolean(), 1, "must be true or false"],
  ["another value", z.enum(["a", "b"]), "c", "must be one of a, b"],
  ["another constant", z.literal(7), 8, "must be 7"],
  ["an empty text", z.string().min(1), "", "must not be empty"],
  ["a short text", z.string().min(3), "a", "must have at least 3 characters"],
  ["a long text", z.string().max(3), "abcd", "must have at most 3 characters"],
  ["a short list", z.array(z.int()).min(2), [1], "must have at least 2 values"],
  ["a long list", z.array(z.int()).max(1), [1, 2], "must have at most 1 values"],
  ["a small number", z.number().min(1), 0, "must be at least 1"],
  ["a large number", z.number().lt(1), 1, "must be less than 1"],
  ["no multiple", z.number().multipleOf(5), 7, "must be a multiple of 5"],
  ["no UUID", z.uuid(), "x", "must be a UUID"],
  ["no form", z.string().regex(/^a$/), "b", "must be a text that fits /^a$/"],
  ["an unknown member", z.strictObject({ a: z.int() }), { a: 1, b: 2 }, 'can\'t have "b": it takes a'],
  [
    "none of several",
    z.union([z.boolean(), z.enum(["a", "b"])]),
    1,
    "must be true or false, or must be one of a, b",
  ],
  [
    "a wrong name",
    z.record(z.string().max(1), z.int()),
    { ab: 1 },
    "must have other names: a name must have at most 1 characters",
  ],
  ["what a refinement refuses", z.string().refine(() => false), "x", "must be another value"],
  ["what has a message", z.int("must be a year"), "x", "must be a year"],
];

it.each(CASES)("says of %s what is allowed", (_, schema, value, sentence) => {
  const issues = schema.safeParse(value, OUR_WORDS).error?.issues ?? [];
  expect(issues.map(({ message }) => message)).toEqual([sentence]);
});
