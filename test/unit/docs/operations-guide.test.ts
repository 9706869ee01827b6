// docs/operations.md names only variables that the service reads; its commands and metrics: test/api/docs.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SETTINGS } from "../../../src/config/settings.ts";

const guide = readFileSync(fileURLToPath(new URL("../../../docs/operations.md", import.meta.url)), "utf8");

describe("the operator's guide", () => {
  it("names variables that are read", () => {
    const named = new Set(guide.match(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)/g)?.map((name) => name.slice(1)));
    const others = [...named].filter((name) => !/^(KURRENTDB|TEST)_/.test(name));
    const known = Object.values(SETTINGS).map(({ variable }) => variable);
    expect(known).toEqual(expect.arrayContaining(others));
  });
});
