// A key is known from the log before any document shows it: the machine that projects may be slow, or away.
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewEvent } from "../../src/event-store/port.ts";
import { accounts } from "../../src/projections/accounts.ts";
import { keys } from "../../src/projections/keys.ts";
import type { Projection } from "../../src/projections/projection.ts";
import { ProjectionRunner } from "../../src/projections/runner.ts";
import { findCaller } from "../../src/queries/find-caller.ts";
import { recentlyIssuedKeys } from "../../src/queries/recently-issued-keys.ts";
import { append, openStores, type Stores } from "../support/stores.ts";

const at = "2026-03-01T10:00:00.000Z";
const clock = () => new Date(at);

describe("a key that was issued a moment ago", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores();
  });
  afterEach(() => stores.close());

  async function issued(keyHash: string) {
    const ofAccount = { accountId: randomUUID(), at };
    const keyId = randomUUID();
    await append(stores.eventStore, `account-${ofAccount.accountId}`, [
      { type: "AccountOpened", data: { ...ofAccount, tier: "developer" } },
      { type: "KeyIssued", data: { ...ofAccount, keyId, keyHash, hint: "wxyz", label: "ci" } },
    ]);
    return { ofAccount, keyId };
  }

  async function project(...projections: Projection[]) {
    const log = pino({ level: "silent" });
    await new ProjectionRunner({ ...stores, projections, clock, log }).catchUp();
  }

  it("is its account's, without any document", async () => {
    const find = recentlyIssuedKeys(stores);
    const first = await issued("a".repeat(64));
    const { keyId, ofAccount } = first;
    expect(await find("a".repeat(64))).toEqual({
      accountId: ofAccount.accountId,
      tier: "developer",
      via: "api",
      keyId,
    });
    const second = await issued("b".repeat(64));
    expect(await find("b".repeat(64))).toMatchObject({ keyId: second.keyId });
    expect(await find("c".repeat(64))).toBeUndefined();
  });

  it("is known while the document of its account is still to come", async () => {
    const { keyId } = await issued("a".repeat(64));
    await project(keys);
    expect(await findCaller(stores, "a".repeat(64))).toBeUndefined();
    expect(await recentlyIssuedKeys(stores)("a".repeat(64))).toMatchObject({ keyId });
    await project(accounts);
    expect(await findCaller(stores, "a".repeat(64))).toMatchObject({ keyId });
  });

  it("is known when its documents have come since they were looked at", async () => {
    const { keyId } = await issued("a".repeat(64));
    await project(keys, accounts);
    expect(await recentlyIssuedKeys(stores)("a".repeat(64))).toMatchObject({ keyId });
  });

  it("is found beside one that a newer program has issued, which nobody can read yet", async () => {
    const find = recentlyIssuedKeys(stores);
    const metadata = { schemaVersion: 99, correlationId: "c", causationId: "c", actor: { type: "operator" } };
    const newer = { id: randomUUID(), type: "KeyIssued", data: { moved: "elsewhere" }, metadata };
    await stores.eventStore.append(`account-${randomUUID()}`, "none", [newer as NewEvent]);
    const { keyId } = await issued("a".repeat(64));
    expect(await find("a".repeat(64))).toMatchObject({ keyId });
    expect(await find("b".repeat(64))).toBeUndefined();
  });

  it("is nobody's once it is deactivated or its account closed", async () => {
    const find = recentlyIssuedKeys(stores);
    const first = await issued("a".repeat(64));
    expect(await find("a".repeat(64))).toBeDefined();
    await append(stores.eventStore, `account-${first.ofAccount.accountId}`, [
      { type: "KeyDeactivated", data: { ...first.ofAccount, keyId: first.keyId } },
    ]);
    expect(await find("a".repeat(64))).toBeUndefined();
    const second = await issued("b".repeat(64));
    await append(stores.eventStore, `account-${second.ofAccount.accountId}`, [
      { type: "AccountClosed", data: second.ofAccount },
    ]);
    expect(await find("b".repeat(64))).toBeUndefined();
  });
});
