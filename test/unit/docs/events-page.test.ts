// docs/events.md says what the schemas in src/events say.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { catalogue } from "../../../src/events/catalogue.ts";
import { EVENTS_PAGE, eventsPage } from "../../support/docs/events-page.ts";

describe("docs/events.md", () => {
  it("is what `npm run docs:events` writes", () => {
    expect(readFileSync(EVENTS_PAGE, "utf8")).toBe(eventsPage());
  });

  it("describes every type of the catalogue once", () => {
    const described = [...eventsPage().matchAll(/^\| `(\w+)` \|.*\|.*\|$/gm)].map(([, type]) => type);
    expect(described.sort()).toEqual(Object.keys(catalogue).sort());
  });
});
