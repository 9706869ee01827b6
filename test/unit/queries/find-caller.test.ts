// Looking up a key's caller while the projections are behind or the projector is not running.

import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CurrentAccounts, currentAccounts } from "../../../src/commands/account/account-stream.ts";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { lifecycle } from "../../../src/projections/groups.ts";
import { CallerLookup } from "../../../src/queries/find-caller.ts";
import type { NewEvent } from "../../../src/stores/event-store/port.ts";
import { followerOf } from "../../support/event-store/log-follower.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { append, type Stores, storesOfTest } from "../../support/runtime/stores.ts";

const at = "2026-03-01T10:00:00.000Z";
const HASH = "a".repeat(64);

describe("the caller of a key", () => {
  let stores: Stores;
  let accounts: CurrentAccounts;
  let callers: CallerLookup;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    stores = await storesOfTest();
    start();
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  /** A lookup as of a process that has just started. */
  function start() {
    stop = new AbortController();
    const follower = followerOf(stores);
    accounts = currentAccounts(stores.eventStore);
    callers = new CallerLookup({
      ...stores,
      catchUp: () => follower.catchUp(),
      knownAccount: accounts.known,
    });
    follower.listen((event) => callers.onEvent(event));
    running = follower.run(stop.signal);
  }
  async function startAgain() {
    stop.abort();
    await running;
    start();
  }
  const given = (accountId: string, events: LinkledgerEvent[]) =>
    append(stores.eventStore, `account-${accountId}`, events);

  async function issued(keyHash = HASH) {
    const of = { accountId: randomUUID(), at };
    const keyId = randomUUID();
    await given(of.accountId, [
      { type: "AccountOpened", data: { ...of, tier: "developer" } },
      { type: "KeyIssued", data: { ...of, keyId, keyHash, hint: "wxyz", label: "ci" } },
    ]);
    return { of, keyId };
  }
  const project = () => foldGroups(stores, [lifecycle]);

  it("is known without a document of an account that commands keep, and refused at once", async () => {
    const { of, keyId } = await issued();
    await project();
    await callers.find(HASH);
    await accounts.current(of.accountId);
    const get = vi.spyOn(stores.readStore, "get");
    const caller = { accountId: of.accountId, tier: "developer", role: "admin", via: "api", keyId };
    expect(await callers.find(HASH)).toEqual(caller);
    expect(get).not.toHaveBeenCalled();
    await given(of.accountId, [{ type: "TierChanged", data: { ...of, from: "developer", to: "free" } }]);
    await accounts.current(of.accountId);
    expect(await callers.find(HASH)).toEqual({ ...caller, tier: "free" });
    await given(of.accountId, [{ type: "KeyDeactivated", data: { ...of, keyId } }]);
    await accounts.current(of.accountId);
    expect(await callers.find(HASH)).toBeUndefined();
    expect(get).not.toHaveBeenCalled();
  });

  it("is known the moment the key is issued, without any document", async () => {
    const first = await issued();
    const { accountId } = first.of;
    const caller = { accountId, tier: "developer", role: "admin", via: "api", keyId: first.keyId };
    expect(await callers.find(HASH)).toEqual(caller);
    const second = await issued("b".repeat(64));
    expect(await callers.find("b".repeat(64))).toMatchObject({ keyId: second.keyId });
    expect(await callers.find("c".repeat(64))).toBeUndefined();
    await startAgain();
    expect(await callers.find(HASH)).toEqual(caller);
  });

  it("is known before its documents have come, and after", async () => {
    const { keyId } = await issued();
    expect(await callers.find(HASH)).toMatchObject({ keyId });
    await project();
    expect(await callers.find(HASH)).toMatchObject({ keyId });
  });

  it("is found beside a key that a newer program has issued, which nobody can read yet", async () => {
    const metadata = { schemaVersion: 99, correlationId: "c", causationId: "c", actor: { type: "operator" } };
    const newer = { id: randomUUID(), type: "KeyIssued", data: { moved: "elsewhere" }, metadata };
    await stores.eventStore.append(`account-${randomUUID()}`, "none", [newer as NewEvent]);
    const { keyId } = await issued();
    expect(await callers.find(HASH)).toMatchObject({ keyId });
  });

  it.each([
    ["its key is deactivated", { type: "KeyDeactivated" }],
    ["its account is closed, by that event alone", { type: "AccountClosed" }],
  ] as const)("is nobody within a second after %s, while the documents stand still", async (_, ending) => {
    const { of, keyId } = await issued();
    await project();
    expect(await callers.find(HASH)).toBeDefined();
    const data = ending.type === "KeyDeactivated" ? { ...of, keyId } : of;
    await given(of.accountId, [{ ...ending, data } as LinkledgerEvent]);
    await expect.poll(() => callers.find(HASH), { timeout: stretched(1_000) }).toBeUndefined();
    await startAgain();
    await expect.poll(() => callers.find(HASH), { timeout: stretched(1_000) }).toBeUndefined();
    await project();
    expect(await callers.find(HASH)).toBeUndefined();
  });

  it("is found by each text of a rotated key that is still accepted, with documents and without", async () => {
    const { of, keyId } = await issued();
    const [SECOND, THIRD] = ["b".repeat(64), "c".repeat(64)];
    const until = "2026-03-02T10:00:00.000Z";
    const sooner = "2026-03-02T09:00:00.000Z";
    const rotate = (keyHash: string, until: string) =>
      given(of.accountId, [
        { type: "KeyRotated", data: { ...of, keyId, keyHash, hint: "zzzz", previousUntil: until } },
      ]);
    const ends = async (hash: string) => {
      const caller = await callers.find(hash);
      return caller && { keyId: caller.keyId, expiresAt: caller.expiresAt };
    };
    const check = async () => {
      expect(await ends(SECOND)).toEqual({ keyId, expiresAt: until });
      expect(await ends(THIRD)).toEqual({ keyId, expiresAt: undefined });
      expect(await ends(HASH)).toEqual({ keyId, expiresAt: sooner });
    };
    await project();
    await rotate(SECOND, sooner);
    await rotate(THIRD, until);
    await startAgain();
    await check();
    await project();
    await startAgain();
    await check();
  });

  it("has the tier that the log says, while the documents stand still", async () => {
    const { of } = await issued();
    await project();
    await given(of.accountId, [{ type: "TierChanged", data: { ...of, from: "developer", to: "free" } }]);
    const tier = async () => (await callers.find(HASH))?.tier;
    await expect.poll(tier, { timeout: stretched(1_000) }).toBe("free");
  });
});
