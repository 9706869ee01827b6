// Verified domains when DNS changes: daily checks, takeover, home page.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAccount } from "../../../src/commands/account/account-stream.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import {
  activateDomain,
  addDomain,
  claimOf,
  recheckDomain,
  removeDomain,
  verifyDomain,
} from "../../../src/commands/domains/change-domains.ts";
import { PREFIX } from "../../../src/events/streams.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

const HOST = "go.example.com";
const DAY_MS = 86_400_000;

describe("a custom domain", () => {
  let opened: Awaited<ReturnType<typeof openCommandDeps>>;
  /** DNS answer for the TXT record. */
  let txt: () => Promise<string[][]>;
  let now: number;
  const deps = () => ({ ...opened.deps, clock: () => new Date(now), resolveTxt: () => txt() });

  beforeEach(async () => {
    opened = await openCommandDeps();
    now = Date.parse("2026-03-01T10:00:00.000Z");
    txt = () => Promise.reject(Object.assign(new Error("queryTxt ENOTFOUND"), { code: "ENOTFOUND" }));
  });
  afterEach(() => opened.close());

  let people = 0;
  const account = async () => {
    people += 1;
    const email = `owner-${people}@example.com`;
    return (await openAccount(deps(), operator, { email, tier: "developer" })).accountId;
  };
  const shows = (...values: string[]) => {
    txt = async () => values.map((value) => [value]);
  };
  const gone = () => shows("v=spf1 -all");
  const dnsUnreachable = () => {
    txt = () => Promise.reject(Object.assign(new Error("queryTxt ETIMEOUT"), { code: "ETIMEOUT" }));
  };
  const tokenOf = async (accountId: string) =>
    (await addDomain(deps(), operator, accountId, HOST)).record.value;
  const verify = (accountId: string) => verifyDomain(deps(), operator, accountId, HOST);
  const stateOf = async (accountId: string) => {
    const state = await loadAccount(opened.deps.eventStore, accountId);
    return state.status === "open" ? state.domains.get(HOST)?.state : undefined;
  };

  async function verified() {
    const accountId = await account();
    const token = await tokenOf(accountId);
    shows(token);
    const { domainId } = await verify(accountId);
    const recheck = async () => (await recheckDomain(deps(), operator, accountId, domainId)).record;
    return { accountId, domainId, token, recheck };
  }

  it.each<[string, () => void, RegExp]>([
    [
      "there is no record",
      () => undefined,
      /DNS has no TXT record _linkledger\.go\.example\.com \(ENOTFOUND\)/,
    ],
    ["another value is shown", () => gone(), /shows “v=spf1 -all” instead/],
    [
      "the servers are unreachable",
      () => dnsUnreachable(),
      /could not be asked .*\(ETIMEOUT\); please try again later/,
    ],
  ])("says why it can't be verified: %s", async (_, set, message) => {
    const accountId = await account();
    await tokenOf(accountId);
    set();
    await expect(verify(accountId)).rejects.toThrow(message);
  });

  it("needs the Developer plan until it is verified, and from then on works without", async () => {
    const holder = await verified();
    const accountId = await account();
    const token = await tokenOf(accountId);
    for (const id of [accountId, holder.accountId]) await changeTier(deps(), operator, id, "free");
    shows(token);
    await expect(verify(accountId)).rejects.toMatchObject({ code: "tier_required" });
    expect(await stateOf(holder.accountId)).toBe("active");
    shows(holder.token);
    expect(await holder.recheck()).toBe("found");
    expect(await verify(holder.accountId)).toMatchObject({ state: "active" });
  });

  it("becomes inactive when its record has been gone for seven days, not before", async () => {
    const { accountId, recheck } = await verified();
    gone();
    expect(await recheck()).toBe("gone");
    now += 7 * DAY_MS - 1;
    await recheck();
    expect(await stateOf(accountId)).toBe("active");
    now += 1;
    await recheck();
    expect(await stateOf(accountId)).toBe("inactive");
    now += DAY_MS;
    await recheck();
    const events = await opened.deps.eventStore.read(`${PREFIX.account}${accountId}`);
    expect(events.filter(({ type }) => type === "DomainDeactivated")).toHaveLength(1);
  });

  it("is not verified again by its owner's word alone while its record is missing", async () => {
    const { accountId, recheck } = await verified();
    gone();
    await recheck();
    await expect(verify(accountId)).rejects.toMatchObject({ code: "domain_not_proven" });
    now += 7 * DAY_MS;
    await recheck();
    expect(await stateOf(accountId)).toBe("inactive");
  });

  it("is not verified by the record of one that was removed and added again meanwhile", async () => {
    const accountId = await account();
    const token = await tokenOf(accountId);
    txt = async () => {
      await removeDomain(deps(), operator, accountId, HOST);
      await tokenOf(accountId);
      return [[token]];
    };
    await expect(verify(accountId)).rejects.toMatchObject({ code: "domain_not_verified" });
    expect(await stateOf(accountId)).toBe("added");
  });

  it("gets its id back when it is removed, added and verified again, also after another account had it", async () => {
    const first = await verified();
    await removeDomain(deps(), operator, first.accountId, HOST);
    const second = await verified();
    expect(second.domainId).not.toBe(first.domainId);
    const token = await tokenOf(first.accountId);
    expect(token).not.toBe(first.token);
    shows(token);
    expect(await verify(first.accountId)).toMatchObject({ domainId: first.domainId, state: "active" });
    expect((await claimOf(deps(), HOST))?.accountId).toBe(first.accountId);
  });

  it("that was lost with its record is active again once that is proven again, and not otherwise", async () => {
    const { accountId, domainId, token, recheck } = await verified();
    gone();
    await recheck();
    now += 8 * DAY_MS;
    await recheck();
    await expect(activateDomain(deps(), operator, accountId, domainId)).rejects.toMatchObject({
      code: "domain_not_proven",
    });
    await expect(verify(accountId)).rejects.toMatchObject({ code: "domain_not_proven" });
    shows(token);
    expect(await verify(accountId)).toMatchObject({ domainId, state: "active" });
  });

  it("that the operator vouches for after it lost its record needs none from then on", async () => {
    const { accountId, domainId, recheck } = await verified();
    gone();
    await recheck();
    await verifyDomain(deps(), operator, accountId, HOST, { skipDns: true });
    expect(await recheck()).toBe("not needed");
    const state = await loadAccount(opened.deps.eventStore, accountId);
    expect(state.status === "open" && state.domains.get(HOST)).toMatchObject({
      ...{ state: "active", domainId, proven: "operator", recordLostAt: null },
    });
  });

  it("goes to the account that proves it in DNS once the owner's record is gone", async () => {
    const first = await verified();
    const second = await account();
    shows(await tokenOf(second));
    await verify(second);
    expect([await stateOf(first.accountId), await stateOf(second)]).toEqual([undefined, "active"]);
  });

  it("stays with its owner while both records are there", async () => {
    const first = await verified();
    const second = await account();
    shows(first.token, await tokenOf(second));
    await expect(verify(second)).rejects.toMatchObject({ code: "domain_taken" });
    expect(await stateOf(first.accountId)).toBe("active");
  });

  it("passes to the next who proves it where its removal was cut off before its name was released", async () => {
    const { accountId } = await verified();
    const cutOff = storeWith(opened.deps.eventStore, {
      append: async (stream, ...rest) => {
        if (stream.startsWith(PREFIX.domain)) throw new Error("cut off");
        return await opened.deps.eventStore.append(stream, ...rest);
      },
    });
    const removing = removeDomain({ ...deps(), eventStore: cutOff }, operator, accountId, HOST);
    await expect(removing).rejects.toThrow("cut off");
    const second = await account();
    shows(await tokenOf(second));
    expect(await verify(second)).toMatchObject({ state: "active" });
  });

  it.each([
    ["before its removal looks whose the name is", 1],
    ["after its removal has seen that the domain is gone", 2],
  ])("keeps its name where it is verified again %s", async (_, reads) => {
    const { accountId } = await verified();
    const { eventStore } = opened.deps;
    let readsOfRelease = 0;
    const raced = storeWith(eventStore, {
      read: async (stream, ...rest) => {
        if (readsOfRelease > 0 || stream.startsWith(PREFIX.domain)) readsOfRelease += 1;
        const found = await eventStore.read(stream, ...rest);
        if (readsOfRelease !== reads) return found;
        shows(await tokenOf(accountId));
        await verify(accountId);
        return stream.startsWith(PREFIX.domain) ? await eventStore.read(stream, ...rest) : found;
      },
    });
    await removeDomain({ ...deps(), eventStore: raced }, operator, accountId, HOST);
    expect(await stateOf(accountId)).toBe("active");
    expect((await claimOf(deps(), HOST))?.accountId).toBe(accountId);
  });

  it("is not taken from its owner by an operator who vouches for another account", async () => {
    const first = await verified();
    const second = await account();
    await tokenOf(second);
    const vouched = verifyDomain(deps(), operator, second, HOST, { skipDns: true });
    await expect(vouched).rejects.toMatchObject({ code: "domain_taken" });
    expect(await stateOf(first.accountId)).toBe("active");
  });
});
