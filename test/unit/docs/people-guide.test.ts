// docs/people.md has the table of rights, as the code goes by it.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { RIGHTS } from "../../../src/commands/people/rights.ts";
import { ROLES, type Role } from "../../../src/events/vocabulary.ts";

const guide = readFileSync(new URL("../../../docs/people.md", import.meta.url), "utf8");

it("the guide of people has the rights of each role", () => {
  const rows = Object.values(RIGHTS).map(({ means, roles }) => {
    const cells = ROLES.map((role) => ((roles as readonly Role[]).includes(role) ? "x" : ""));
    return `| ${[means, ...cells].map((cell) => `${cell} |`.trimStart()).join(" ")}`;
  });
  const table = guide.split("\n").filter((line) => line.startsWith("|"));
  expect(table).toEqual([`| | ${ROLES.join(" | ")} |`, "|---|---|---|---|---|", ...rows]);
});
