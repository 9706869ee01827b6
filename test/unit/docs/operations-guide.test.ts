// docs/operations.md names only metrics, commands and variables that there are.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ENVIRONMENT_NAMES } from "../../../src/config.ts";
import { readSources } from "../../support/source-graph.ts";

const guide = readFileSync(fileURLToPath(new URL("../../../docs/operations.md", import.meta.url)), "utf8");
const code = [...readSources(["src"]).values()].map((source) => source.code).join("\n");

describe("the operator's guide", () => {
  it("names metrics that there are", () => {
    const named = new Set(guide.match(/linkledger_[a-z_]+/g));
    expect(named.size).toBeGreaterThan(15);
    const ends = [...named].filter((name) => !exists(name));
    expect(ends).toEqual([]);
  });

  it("names commands that there are", () => {
    const named = [...guide.matchAll(/linkledger (account|audit|projections|backup)(?: ([a-z]+))?/g)];
    expect(named.length).toBeGreaterThan(5);
    for (const [, group, command] of named) {
      expect(code).toContain(`.command("${group}")`);
      if (command && group !== "backup") expect(code).toContain(`.command("${command}")`);
    }
  });

  it("names variables that are read", () => {
    const named = new Set(guide.match(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)/g)?.map((name) => name.slice(1)));
    const others = [...named].filter((name) => !/^(KURRENTDB|TEST)_/.test(name));
    expect(ENVIRONMENT_NAMES).toEqual(expect.arrayContaining(others));
  });
});

/** Names are put together from a beginning and an end in the code. */
function exists(name: string): boolean {
  const beginnings = ["linkledger_projection_", "linkledger_webhook_", "linkledger_clicks_", "linkledger_"];
  return beginnings.some((beginning) => {
    const rest = name.slice(beginning.length).replace(/_total$/, "");
    return name.startsWith(beginning) && (code.includes(`"${rest}"`) || code.includes(`"${name}"`));
  });
}
