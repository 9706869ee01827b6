// The catalogue as a storage contract: all versions ever written stay readable, and only valid events are written.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { fieldRow } from "../../../src/commands/links/fields/link-fields.ts";
import { catalogue, type EventType, type LinkledgerEvent } from "../../../src/events/catalogue.ts";
import type { EventDefinition } from "../../../src/events/definition.ts";
import { EventInvalid, newEvent } from "../../../src/events/new-event.ts";
import { EventNewer, EventUnreadable, readableEvent, readEvent } from "../../../src/events/read-event.ts";
import type { EventMetadata, RecordedEvent } from "../../../src/stores/event-store/port.ts";
import { FIELD_CASES } from "../../support/service/link-field-cases.ts";

const FOLDER = new URL("../../fixtures/events/", import.meta.url);
const types = Object.keys(catalogue) as EventType[];
const versions = types.flatMap((type) =>
  Array.from({ length: catalogue[type].version }, (_, index) => ({ type, version: index + 1 })),
);
/** Fixtures of events with nothing but their required members: `<type>.v<version>.least.json`. */
const LEAST = "least";
const least = versions.filter(({ type, version }) => existsSync(fixtureUrl(type, `${version}.${LEAST}`)));
/** Optional members that were added without a new version: `<type>.v<version>.<member>.json`, beside the one without. */
const additions = readdirSync(FOLDER).flatMap((file) => {
  const [, type, version, added] = /^(\w+)\.v(\d+)\.(\w+)\.json$/.exec(file) ?? [];
  return type && version && added && added !== LEAST
    ? [{ type: type as EventType, version: Number(version), added }]
    : [];
});
/** Of links, by the table of their fields. */
const addedOptions = FIELD_CASES.flatMap(({ field, stored }) =>
  stored === undefined ? [] : [[fieldRow(field).option, stored] as const],
);
const origin = { correlationId: "request-1", causationId: "request-1", actor: { type: "operator" } } as const;

function fixtureUrl(type: string, version: number | string): URL {
  return new URL(`${type}.v${version}.json`, FOLDER);
}

function fixture(type: string, version: number | string): unknown {
  return JSON.parse(readFileSync(fixtureUrl(type, version), "utf8"));
}

function recorded(type: string, data: unknown, schemaVersion = 1): RecordedEvent {
  return {
    id: "0195f3d2-7c1e-7a10-8b11-3c5d7e9f1a2b",
    type,
    data,
    metadata: { ...origin, schemaVersion },
    stream: "sample-1",
    revision: 0,
    position: "00000000000000000001",
    recordedAt: "2026-03-01T10:00:00.000Z",
  };
}

describe("the event catalogue", () => {
  it("has one golden fixture for every version of every type, and no other", () => {
    const whole = versions.map(({ type, version }) => `${type}.v${version}.json`);
    const added = additions.map(({ type, version, added }) => `${type}.v${version}.${added}.json`);
    const bare = least.map(({ type, version }) => `${type}.v${version}.${LEAST}.json`);
    expect(readdirSync(FOLDER).sort()).toEqual([...whole, ...bare, ...added].sort());
  });

  it("has a golden fixture with each member of every type", () => {
    const missing = types.flatMap((type) => {
      const { version, schema } = catalogue[type];
      const added = additions.filter((one) => one.type === type && one.version === version);
      const shown = new Set([
        ...Object.keys(fixture(type, version) as object),
        ...added.map((one) => one.added),
        ...(type === "LinkCreated" ? addedOptions.map(([option]) => option) : []),
      ]);
      return Object.keys(schema.shape)
        .filter((member) => !shown.has(member))
        .map((member) => `${type}.${member}`);
    });
    expect(missing).toEqual([]);
  });

  it("has an upcaster from every version but the last", () => {
    for (const type of types) {
      const definition: EventDefinition = catalogue[type];
      const steps = Object.keys(definition.upcast ?? {}).map(Number);
      expect(steps).toEqual(Array.from({ length: definition.version - 1 }, (_, index) => index + 1));
    }
  });

  it.each(versions)("reads $type as version $version wrote it", ({ type, version }) => {
    const data = fixture(type, version);
    const event = readEvent(recorded(type, data, version));
    expect(event).toMatchObject({ type, stream: "sample-1", revision: 0 });
    if (version === catalogue[type].version) expect(event?.data).toEqual(data);
  });

  it.each(additions)("reads $type $version with the $added that was added to it", (addition) => {
    const { type, version, added } = addition;
    const data = fixture(type, `${version}.${added}`);
    expect(data).toEqual({ ...(fixture(type, version) as object), [added]: expect.anything() });
    expect(readEvent(recorded(type, data, version))?.data).toEqual(data);
  });

  it("reads LinkCreated with each option that was added to it", () => {
    for (const [option, stored] of addedOptions) {
      const data = { ...(fixture("LinkCreated", 1) as object), [option]: stored };
      expect(readEvent(recorded("LinkCreated", data))?.data).toEqual(data);
    }
  });

  it.each(least)("reads and writes $type as version $version with nothing but what it must have", (one) => {
    const { type, version } = one;
    const data = fixture(type, `${version}.${LEAST}`);
    const members: [string, z.ZodType][] = Object.entries(catalogue[type].schema.shape);
    const required = members.filter(([, field]) => !field.safeParse(undefined).success);
    expect(Object.keys(data as object)).toEqual(required.map(([member]) => member));
    expect(readEvent(recorded(type, data, version))?.data).toEqual(data);
    expect(newEvent({ type, data } as LinkledgerEvent, "id-1").data).toEqual(data);
  });

  it.each(types)("writes %s exactly as its latest golden fixture", (type) => {
    const data = fixture(type, catalogue[type].version);
    expect(newEvent({ type, data } as LinkledgerEvent, "id-1", origin)).toEqual({
      id: "id-1",
      type,
      data,
      metadata: { ...origin, schemaVersion: catalogue[type].version },
    });
  });
});

describe("reading an event", () => {
  it("drops keys it does not know, at every depth", () => {
    const data = fixture("LinkClicked", 1) as { os: object };
    const event = readEvent(
      recorded("LinkClicked", { ...data, later: 1, os: { ...data.os, kernel: "6.1" } }),
    );
    expect(event?.data).toEqual(data);
  });

  it.each(["LinkPraised", "toString", ""])("refuses the unknown type %j", (type) => {
    expect(() => readEvent(recorded(type, {}))).toThrow(EventUnreadable);
  });

  it("refuses what the store could not parse, and events without metadata", () => {
    const sound = recorded("LinkDisabled", fixture("LinkDisabled", 1));
    expect(() => readEvent({ ...sound, unreadable: "cut off" })).toThrow(/revision 0 of sample-1: cut off/);
    const bare = { ...sound, metadata: null as unknown as EventMetadata };
    expect(() => readEvent(bare)).toThrow(EventUnreadable);
  });

  it("gives who goes on past an event nothing for it, but waits for a newer program", () => {
    const told: string[] = [];
    const read = (event: RecordedEvent) => readableEvent(event, (_, { message }) => void told.push(message));
    expect(read(recorded("LinkDisabled", {}))).toBeUndefined();
    expect(told).toEqual([expect.stringContaining("LinkDisabled at revision 0")]);
    const newer = recorded("LinkDisabled", fixture("LinkDisabled", 1), 2);
    expect(() => read(newer)).toThrow(EventNewer);
  });

  it("names stream and revision when the data does not match the schema", () => {
    const read = () => readEvent(recorded("LinkDisabled", { host: "localhost" }));
    expect(read).toThrow(EventUnreadable);
    expect(read).toThrow(/LinkDisabled at revision 0 of sample-1/);
  });

  it("refuses data of a version that a newer program wrote, as that", () => {
    expect(() => readEvent(recorded("LinkDisabled", fixture("LinkDisabled", 1), 2))).toThrow(EventNewer);
  });
});

describe("writing an event", () => {
  const data = fixture("LinkClicked", 1) as { os: object };
  const write = (changed: object) => () =>
    newEvent({ type: "LinkClicked", data: changed } as LinkledgerEvent, "id-1", origin);

  it("refuses keys that the schema does not know, at every depth", () => {
    expect(write({ ...data, email: "a@example.com" })).toThrow(EventInvalid);
    expect(write({ ...data, os: { ...data.os, kernel: "6.1" } })).toThrow(EventInvalid);
  });

  it("refuses data that does not fit, without quoting it", () => {
    expect(write({ ...data, accountId: "secret-value" })).toThrow(EventInvalid);
    expect(write({ ...data, accountId: "secret-value" })).not.toThrow(/secret-value/);
  });
});
