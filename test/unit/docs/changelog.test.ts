// CHANGELOG.md, to which the guide to upgrades points, tells of the version that package.json names.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { VERSION } from "../../../src/config/version.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

it("has a section for this version that says what operators must know, and upgrades lead to it", () => {
  const section = read("CHANGELOG.md")
    .split("\n## ")
    .find((one) => one.startsWith(`[${VERSION}]`));
  expect(section).toContain("### Operators");
  expect(read("docs/operations.md")).toContain("(../CHANGELOG.md)");
});

it("tells of the same version first, and nothing else names another one", () => {
  const [, newest] = /^## \[(.+)\]$/m.exec(read("CHANGELOG.md")) ?? [];
  const named = ["package.json", "package-lock.json", "sdk/package.json", "sdk/package-lock.json"].map(
    (file) => JSON.parse(read(file)).version,
  );
  expect(new Set([newest, ...named])).toEqual(new Set([VERSION]));
});
