// Documents name files that there are: whoever moves a file is told which document must follow.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const isMarkdown = (file: string) => file.endsWith(".md");
const documents = ["", "docs/"].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter(isMarkdown)
    .map((file) => folder + file),
);
const read = (document: string) =>
  readFileSync(join(root, document), "utf8").replace(/^```[\s\S]*?^```/gm, "");
const TEST_FOLDERS = "unit|api|faults|contract|properties|cluster|browser|servers";

/** As GitHub names the headings of a document in links. */
const headings = (document: string) =>
  [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe.each(documents)("%s", (document) => {
  const text = read(document);

  it("links to files that exist", () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, to = ""]) => to);
    expect(links.filter((to) => !existsSync(join(root, dirname(document), to)))).toEqual([]);
  });

  it("links to headings that exist", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const isThere = (to: string, heading: string) =>
      headings(to === "" ? document : join(dirname(document), to)).includes(heading);
    expect(links.filter(([, to = "", heading = ""]) => !isThere(to, heading)).map(([link]) => link)).toEqual(
      [],
    );
  });

  it("names files that exist", () => {
    const named = [...text.matchAll(/`((?:src|test|bench|deploy|docs)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("names tests that exist, without `test/` and the ending", () => {
    const pattern = new RegExp(`\`((?:${TEST_FOLDERS})/[\\w/-]+)\``, "g");
    const named = [...text.matchAll(pattern)].map(([, path = ""]) => join(root, "test", path));
    const missing = named.filter(
      (path) => ![path, `${path}.ts`, `${path}.test.ts`].some((file) => existsSync(file)),
    );
    expect(missing).toEqual([]);
  });
});
