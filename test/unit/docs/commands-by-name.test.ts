// What people are told to run is ours: a name that a registry would resolve, and we don't have there, is anybody's.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

it("tells nobody to run or install by a name that we have not published", () => {
  const folders = ["docs", "src", "deploy", "sdk/src"];
  const files = folders.flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  );
  const texts = ["README.md", "CONTRIBUTING.md", "sdk/README.md", ...files].filter((file) =>
    /\.(md|ts|js|yml|service)$/.test(file),
  );
  const named = texts.filter((file) =>
    /npx linkledger|npm (i|install|add) (@linkledger|linkledger)/.test(
      readFileSync(`${root}/${file}`, "utf8"),
    ),
  );
  expect(named).toEqual([]);
});
