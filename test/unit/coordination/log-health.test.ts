// What the operator is told of a log that can't be written or read.
import { beforeEach, describe, expect, it } from "vitest";
import { StoreFailed, StoreUnavailable, storeError } from "../../../src/stores/connections/errors.ts";
import { type LogHealth, logHealth } from "../../../src/stores/coordination/log-health.ts";

describe("the health of the log", () => {
  let health: LogHealth;
  let lines: string[];
  let now: number;
  beforeEach(() => {
    [lines, now] = [[], 0];
    const write = (_: unknown, message?: string) => void lines.push(String(message ?? _));
    health = logHealth({ log: { info: write, error: write }, now: () => now });
  });

  it("names a full disk, and what to do, in one line an outage", () => {
    const full = new StoreUnavailable("Error: database or disk is full");
    for (let n = 0; n < 3; n++) health.notWritten("clicks", full);
    health.notWritten("requests", full);
    expect(health.problems().write).toMatch(/SQLITE_FULL.*free some space/);
    health.written("clicks");
    expect(health.problems()).toEqual({});
    expect(lines).toEqual([
      expect.stringMatching(/^The log can't be written: the disk is full/),
      "The log is written again",
    ]);
    health.notWritten("clicks", new StoreUnavailable("ENOSPC: no space left on device, write"));
    expect(health.problems().write).toMatch(/ENOSPC.*free some space/);
  });

  it("is not well while clicks can't be written, although requests are", () => {
    health.notWritten("clicks", new StoreUnavailable("Error: database or disk is full"));
    health.written("requests");
    expect(health.problems().write).toBeDefined();
  });

  it("takes what stopped the log and the secrets together as over when the log is written", () => {
    for (const writer of ["secrets", "requests", "clicks"] as const)
      health.notWritten(writer, new StoreUnavailable("Error: database or disk is full"));
    health.written("requests");
    expect(health.problems()).toHaveProperty("secrets");
    health.written("clicks");
    expect(health.problems()).toEqual({});
  });

  it("names secrets that alone can't be written until one is", () => {
    health.notWritten("secrets", new StoreUnavailable("Error: database or disk is full"));
    health.written("clicks");
    expect(health.problems()).toEqual({
      secrets: expect.stringMatching(/^can't be written: the disk is full/),
    });
    health.written("secrets");
    expect(health.problems()).toEqual({});
    expect(lines).toEqual([
      expect.stringMatching(/^The store of secrets can't be written/),
      "The store of secrets is written again",
    ]);
  });

  it("names what can't be read until nobody has met it for ten minutes, and not what is over in a moment", () => {
    health.notRead(new StoreUnavailable("database is locked"));
    expect(health.problems()).toEqual({});
    for (let n = 0; n < 3; n++) health.notRead(new StoreFailed("events.db: malformed"));
    expect(health.problems()).toEqual({ read: "can't be read: events.db: malformed" });
    expect(lines).toHaveLength(1);
    now = 600_000;
    expect(health.problems()).toEqual({});
  });
});

it.each([
  [new Error("database disk image is malformed"), StoreFailed],
  [new SyntaxError("Unexpected token"), StoreFailed],
  [{ type: "Error", code: "ERR_SQLITE_ERROR", message: "file is not a database" }, StoreFailed],
  [{ type: "StoreFailed", code: "store_failed", message: "there is no dictionary 1" }, StoreFailed],
  [new Error("database is locked"), StoreUnavailable],
  [{ type: "Error", code: "ERR_SQLITE_ERROR", message: "database or disk is full" }, StoreUnavailable],
  [undefined, StoreUnavailable],
])("tells a failure that lasts from one that doesn't: %o", (cause, type) => {
  expect(storeError("events.db", cause).constructor).toBe(type);
});
