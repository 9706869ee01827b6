// Each class of the portal's styles is one that a page or a script may give.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ASSETS = "src/portal/shell/assets";

/** Text of all files with one of these endings. */
function text(folder: string, endings: RegExp): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => endings.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

it("styles no class that nothing has", () => {
  const words = (folder: string) => text(folder, /\.(ts|js)$/).replace(/^\s*(\/?\*|\/\/).*/gm, "");
  const inPages = new Set(words("src/portal").match(/[a-z][\w-]*/g));
  // Such as `tag-` of a template that ends a name with a value, which is a number or a word of the service.
  const beginnings = [...new Set(words("src/portal").match(/[a-z][a-z-]*-(?=\$\{)/g))];
  const values = new Set(words("src").match(/[a-z]\w*/g));
  const isValue = (end: string) => values.has(end) || /^\d+$/.test(end);
  const isGiven = (name: string) =>
    inPages.has(name) ||
    beginnings.some((beginning) => name.startsWith(beginning) && isValue(name.slice(beginning.length)));
  const styled = new Set(text(ASSETS, /\.css$/).match(/(?<=\.)[a-z][\w-]*/g));
  expect([...styled].filter((name) => !isGiven(name))).toEqual([]);
});
