// The list of codes at /docs has each that the API refuses with, under the status that it answers.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ERROR_CAUSES } from "../../../src/api/openapi/error-causes.ts";
import { REFUSALS } from "../../../src/runtime/refused.ts";

const src = fileURLToPath(new URL("../../../src", import.meta.url));
const refusals: Readonly<Record<string, { status?: number; exit?: number; message?: string }>> = REFUSALS;
const listed = Object.entries(ERROR_CAUSES).flatMap(([status, causes]) =>
  Object.keys(causes).map((code) => [code, Number(status)] as const),
);

/** The operator's, which are no part of the API. */
const OTHERS = /^(api\/operations|queries\/audit)/;

it("lists every code that the API's routes, links and queries refuse with", () => {
  const folders = ["api", "commands/links", "queries"];
  const files = folders.flatMap((folder) =>
    readdirSync(`${src}/${folder}`, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const code = files
    .filter((file) => file.endsWith(".ts") && !OTHERS.test(file))
    .map((file) => readFileSync(`${src}/${file}`, "utf8"));
  const thrown = code.flatMap((text) =>
    [...text.matchAll(/new Refused\(\s*"(\w+)"/g)].map(([, one]) => one ?? ""),
  );
  const answered = [...new Set(thrown)].filter((one) => refusals[one]?.status !== undefined);
  expect(answered.length).toBeGreaterThan(20);
  expect(answered.filter((one) => !listed.some(([known]) => known === one))).toEqual([]);
});

it("lists each under the status that it is answered with, once", () => {
  expect(new Set(listed.map(([code]) => code)).size).toBe(listed.length);
  for (const [code, status] of listed)
    if (Object.hasOwn(refusals, code)) expect([code, refusals[code]?.status ?? 500]).toEqual([code, status]);
});
