// A link's page stays small, however much its changes say.
import { expect, it } from "vitest";
import type { ShownRule } from "../../../src/commands/links/fields/rule-fields.ts";
import { clauseInWords } from "../../../src/portal/links/fields-in-words.ts";
import { htmlText } from "../../../src/portal/shell/html.ts";

const rules = (url: string): ShownRule[] =>
  Array.from({ length: 20 }, (_, n) => ({ when: { query: { n: `${n}` } }, url }));
const changed = (from: ShownRule[], to: ShownRule[]) =>
  htmlText(clauseInWords([{ field: "rules", value: from }, " to ", { field: "rules", value: to }]));

it("shows the rules before and after a change, and only their number where they are very long", () => {
  expect(changed([], rules("https://example.com/app"))).toMatch(
    /0 rules.* to .*20 rules.*Query: n&#61;19.*example.com.app/s,
  );
  const long = changed(
    rules("https://example.com/app"),
    rules(`https://example.com/?${"&a=b".repeat(2000)}`),
  );
  expect(long).toContain("Query: n&#61;19");
  expect(long).toContain("20 rules that are too long for this page");
  expect(long.length).toBeLessThan(20_000);
});
