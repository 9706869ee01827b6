// The short check of an event's data says yes only where parsing it by its schema would give the same data.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { catalogue, type EventType } from "../../../src/events/catalogue.ts";
import { isAsWritten } from "../../../src/runtime/is-as-written.ts";

const FOLDER = new URL("../../fixtures/events/", import.meta.url);
const samples = readdirSync(FOLDER).map((file) => ({
  file,
  type: file.split(".")[0] as EventType,
  data: JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Record<string, unknown>,
}));
const STRANGE = [
  null,
  "",
  "x",
  1.5,
  -1,
  2 ** 53,
  true,
  [],
  ["x"],
  {},
  { name: "x" },
  "2026-02-30T10:00:00.000Z",
];

describe("data as it was written", () => {
  it("is recognised in clicks", () => {
    const clicks = samples.filter(({ type }) => type === "LinkClicked");
    expect(clicks.length).toBeGreaterThan(0);
    for (const { data } of clicks) expect(isAsWritten(catalogue.LinkClicked.schema)(data)).toBe(true);
  });

  it.each(samples)("is what the schema makes of $file and of its variations", ({ type, data }) => {
    const { schema } = catalogue[type];
    const isSame = isAsWritten(schema);
    for (const variation of variationsOf(data)) {
      if (!isSame(variation)) continue;
      expect(schema.safeParse(variation)).toEqual({ success: true, data: variation });
    }
  });

  it("is not recognised by a schema with a rule that the check doesn't know", () => {
    for (const member of [
      z.string().min(2),
      z.string().trim(),
      z.number(),
      z.base64(),
      z.string().default("x"),
    ])
      expect(isAsWritten(z.object({ member }))({ member: "long enough" })).toBe(false);
    expect(isAsWritten(z.looseObject({ a: z.string() }))({ a: "x" })).toBe(false);
    expect(isAsWritten(z.object({ a: z.string() }).refine(() => false))({ a: "x" })).toBe(false);
    expect(isAsWritten(z.object({ a: z.string() }).transform(() => 1))({ a: "x" })).toBe(false);
  });
});

/** Each member absent or with a value of another kind, also within members; and with a member more. */
function* variationsOf(data: Record<string, unknown>): Generator<unknown> {
  yield* [data, { ...data, more: 1 }, { ...data, more: undefined }, ...STRANGE];
  yield JSON.parse(JSON.stringify(data).replace("{", '{"__proto__":1,'));
  for (const [name, value] of Object.entries(data)) {
    const { [name]: _, ...others } = data;
    yield others;
    yield { ...others, [name]: undefined };
    for (const other of STRANGE) yield { ...data, [name]: other };
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    for (const inner of variationsOf(value as Record<string, unknown>)) yield { ...data, [name]: inner };
  }
}
