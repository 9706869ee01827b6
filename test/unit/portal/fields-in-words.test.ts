// A link's page stays small, however much its changes say, and hides none of it.
import { expect, it } from "vitest";
import type { ShownRule } from "../../../src/commands/links/fields/rule-fields.ts";
import { clauseInWords } from "../../../src/portal/links/fields-in-words.ts";
import { html, htmlText } from "../../../src/portal/shell/html.ts";
import { ruleClauses } from "../../../src/queries/links/rule-sentences.ts";

const rules = (url: string): ShownRule[] =>
  Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, when: { query: { n: `${n}` } }, url }));
const changed = (from: ShownRule[], to: ShownRule[]) =>
  ruleClauses(from, to).map((clause) => htmlText(clauseInWords(clause)));

it("shows each rule that was changed, with a link where its destination is short, whole where it is long", () => {
  const added = changed([], rules("https://example.com/app"));
  expect(added).toHaveLength(20);
  expect(added[18]).toMatch(/added rule 19 .*Query: “.*n&#61;18.*<a .*href="https:\/\/example.com\/app"/);
  const long = `https://example.com/?${"&a=b".repeat(200)}`;
  const [swapped = ""] = changed(rules("https://example.com/app"), rules(long));
  expect(swapped).toContain(htmlText(html`${long}`));
  expect(swapped).not.toContain('href="https://example.com/?');
});
