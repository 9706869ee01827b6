// What leaves the service of each event: every field was decided on, and what is internal is never in an answer.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  catalogue,
  EVENT_TYPES,
  type EventType,
  type LinkledgerEvent,
  publishedData,
  publishedSchema,
} from "../../../src/events/catalogue.ts";
import type { CatalogueEntry } from "../../../src/events/definition.ts";

const FOLDER = new URL("../../fixtures/events/", import.meta.url);

/** Names that a new field could have and must not be published under. */
const SECRET = /hash|token|secret|password|salt|email|(^|[a-z])(key|url)$/i;
/** Destinations of links, which their owner typed for everybody to follow. */
const DESTINATIONS = ["longUrl", "shortUrl", "homeUrl", "expiredUrl", "fallbackUrl"];
/** Names a secret, and holds nothing of it. */
const NAMED = ["passwordId", "publicKey"];

describe("published data", () => {
  it("has no field whose name sounds like a secret", () => {
    const suspicious = EVENT_TYPES.flatMap((type) =>
      Object.keys(publishedSchema(type).shape)
        .filter((field) => SECRET.test(field) && ![...DESTINATIONS, ...NAMED].includes(field))
        .map((field) => `${type}.${field}`),
    );
    expect(suspicious).toEqual([]);
  });

  it("leaves out logos, hashes of keys and addresses, TXT tokens and receivers' URLs, and nothing else", () => {
    const internal = EVENT_TYPES.flatMap((type) =>
      ((catalogue[type] as CatalogueEntry).internal ?? []).map((field) => `${type}.${field}`),
    );
    expect(internal).toEqual([
      "LogoChanged.image",
      "KeyIssued.keyHash",
      "KeyRotated.keyHash",
      "DomainAdded.token",
      "WebhookAdded.url",
      "WebhookChanged.url",
      "SharedPageMade.tokenHash",
    ]);
  });

  it("names internal fields that exist", () => {
    for (const type of EVENT_TYPES) {
      const { internal = [], schema }: CatalogueEntry = catalogue[type];
      expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining([...internal]));
    }
  });

  it.each(readdirSync(FOLDER))("matches its schema and keeps no internal value: %s", (file) => {
    const type = file.split(".")[0] as EventType;
    const data = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
    const published = publishedData({ type, data } as LinkledgerEvent);
    expect(publishedSchema(type).strict().parse(published)).toEqual(published);
    const { internal = [] }: CatalogueEntry = catalogue[type];
    for (const field of internal)
      expect(JSON.stringify(published)).not.toContain(JSON.stringify(data[field]));
    expect({ ...published, ...Object.fromEntries(internal.map((field) => [field, data[field]])) }).toEqual(
      data,
    );
  });
});
