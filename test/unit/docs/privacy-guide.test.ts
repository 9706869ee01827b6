// docs/privacy.md names everything that is kept in the log: a new event or a new fact of a click must be told there.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { catalogue } from "../../../src/events/catalogue.ts";

const guide = readFileSync(new URL("../../../docs/privacy.md", import.meta.url), "utf8");
const named = new Set([...guide.matchAll(/`(\w+)`/g)].map(([, name]) => name));

/** Told in words: time, link, destination, account, how the link was made. */
const IN_WORDS = ["at", "link", "slug", "linkRevision", "shortUrl", "longUrl", "accountId", "via"];

describe("the privacy guide", () => {
  it("names every type of event", () => {
    expect(Object.keys(catalogue).filter((type) => !named.has(type))).toEqual([]);
  });

  it("names every fact that is kept of a click", () => {
    const facts = Object.keys(catalogue.LinkClicked.schema.shape).filter((fact) => !IN_WORDS.includes(fact));
    expect(facts.filter((fact) => !named.has(fact))).toEqual([]);
  });
});
