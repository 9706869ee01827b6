// Portal sessions on real stores: a request in flight must not restore an ended session; only a valid password opens
// one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeAccount, eraseClosed } from "../../../src/commands/account/close-account.ts";
import { signUp } from "../../../src/commands/account/sign-up.ts";
import { changePassword, checkCredentials, hashPassword } from "../../../src/commands/people/password.ts";
import type { GroupGrant } from "../../../src/config/formats.ts";
import { operatorIn, operatorSessions } from "../../../src/portal/admin/access.ts";
import { sessions } from "../../../src/portal/shell/sessions.ts";
import type { Oidc } from "../../../src/sign-in/oidc/sign-in-at-provider.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

const password = "seven brown foxes";
const from = { browser: "Firefox on Linux", address: "198.51.100.0" };

let opened: Awaited<ReturnType<typeof openCommandDeps>>;
let deps: (typeof opened)["deps"];
beforeAll(async () => {
  opened = await openCommandDeps();
  deps = opened.deps;
});
afterAll(() => opened.close());

function people(others = {}) {
  return sessions({ ...deps, signIn: ["password"], sessionHours: 720, ...others });
}

async function member(email: string) {
  return await signUp(deps, operator, {
    email,
    tier: "free",
    passwordHash: await hashPassword(password),
    isProven: false,
  });
}

describe("a session", () => {
  it("that was signed out everywhere is not written back by a request that had just read it", async () => {
    const { accountId, epoch } = await member("in-flight@example.com");
    const cookie = await people().open(accountId, { way: "password", epoch }, { ...from, accountId });
    const all = people();
    const hourLater = () => new Date(Date.now() + 3_600_000);
    // The request has read the record when all sessions end, and is about to write `seenAt`.
    const secrets = storeWith(deps.secrets, {
      get: async (key, now) => {
        const found = await deps.secrets.get(key, now);
        if (key.startsWith("session/")) await all.endAll(accountId);
        return found;
      },
    });
    await people({ secrets, clock: hourLater }).find(cookie);
    expect(await all.find(cookie)).toBeUndefined();
    expect(await all.list(accountId)).toEqual([]);
  });

  it("opened by a password that was changed while it was being checked is worth nothing", async () => {
    const { accountId } = await member("late@example.com");
    const proven = await checkCredentials(deps, { email: "late@example.com", password });
    await changePassword(deps, operator, accountId, { how: "known", wanted: "eight green foxes" });
    const cookie = await people().open(
      proven.personId,
      { way: "password", epoch: proven.epoch },
      { ...from, accountId },
    );
    expect(await people().find(cookie)).toBeUndefined();
  });

  it("ends with the way that it was begun by, and so many hours after the sign-in, however often it is used", async () => {
    const { accountId, epoch } = await member("ways@example.com");
    const cookie = await people().open(accountId, { way: "password", epoch }, { ...from, accountId });
    const link = await people().open(accountId, { way: "link" }, { ...from, accountId });
    expect(await people({ signIn: ["oidc"] }).find(cookie)).toBeUndefined();
    expect(await people({ signIn: ["oidc"] }).find(link)).toBeDefined();
    await expect(people().open(accountId, { way: "oidc" }, { ...from, accountId })).rejects.toThrow(/off/);
    const at = (hours: number) => people({ clock: () => new Date(Date.now() + hours * 3_600_000) });
    for (const hours of [100, 719]) expect(await at(hours).find(cookie), String(hours)).toBeDefined();
    expect(await at(721).find(cookie)).toBeUndefined();
    expect(
      await people({ sessionHours: 1, clock: () => new Date(Date.now() + 3_700_000) }).find(cookie),
    ).toBeUndefined();
  });

  it("that goes on as another one, as with a new password, ends no later, and is no fresher", async () => {
    const { accountId, epoch } = await member("going-on@example.com");
    const since = new Date(Date.now() - 719 * 3_600_000).toISOString();
    const cookie = await people().open(accountId, { way: "password", epoch, since }, { ...from, accountId });
    expect((await people().find(cookie))?.person.since).toBe(since);
    const later = people({ clock: () => new Date(Date.now() + 2 * 3_600_000) });
    expect(await later.find(cookie)).toBeUndefined();
  });

  it("ends with its provider, and makes an operator while a group gives that alone", async () => {
    const { accountId } = await member("provider@example.com");
    const at = (issuer: string) => people({ signIn: ["oidc"], oidc: { client: { issuer } } });
    const issuer = "https://provider.example";
    const proof = { issuer, subject: "one", sid: undefined, idToken: "", issuedAt: 0 } as const;
    const provider = { ...proof, authenticatedAt: undefined, isOperator: true };
    const cookie = await at(issuer).open(accountId, { way: "oidc", provider }, { ...from, accountId });
    expect(await at(issuer).find(cookie)).toBeDefined();
    expect(await at("https://other.example").find(cookie)).toBeUndefined();

    const operatorBy = async (...groups: GroupGrant[]) => {
      const oidc = { client: { issuer }, name: "", groups, joining: "nothing" } as unknown as Oidc;
      const operators = operatorSessions({ ...deps, adminToken: undefined });
      const console = { ...deps, operators, sessions: at(issuer), oidc };
      return (await operatorIn(console, { token: undefined, person: cookie })).person?.personId;
    };
    expect(await operatorBy({ group: "it", gives: "operator" })).toBe(accountId);
    expect(await operatorBy({ group: "it", gives: { accountId, role: "owner" } })).toBeUndefined();
  });

  it.each(["one", "all"])("does not begin whose provider has ended %s there meanwhile", async (which) => {
    const { accountId } = await member(`ended-${which}@example.com`);
    const issuer = "https://provider.example";
    const all = people({ signIn: ["oidc"], oidc: { client: { issuer } } });
    const there = { issuer, subject: which, sid: `sid-${which}` };
    const open = (issuedAt: number) => {
      const provider = { ...there, issuedAt, idToken: "", authenticatedAt: undefined, isOperator: false };
      return all.open(accountId, { way: "oidc", provider }, { ...from, accountId });
    };
    // Nobody is known yet at a first sign-in.
    await all.endAtProvider({ ...there, ...(which === "all" && { sid: undefined }), issuedAt: 7 }, undefined);
    await expect(open(7)).rejects.toMatchObject({ code: "provider_refused" });
    expect(await all.list(accountId)).toEqual([]);
    expect(await all.find(await open(8))).toBeDefined();
  });

  it("ends where its sign-in is unlinked, of which no logout at the provider is kept", async () => {
    const { accountId } = await member("unlinked@example.com");
    const issuer = "https://unlinked.example";
    const all = people({ signIn: ["oidc"], oidc: { client: { issuer } } });
    const there = { issuer, subject: "unlinked", sid: undefined };
    const provider = { ...there, issuedAt: 7, idToken: "", authenticatedAt: undefined, isOperator: false };
    const open = () => all.open(accountId, { way: "oidc", provider }, { ...from, accountId });
    const before = await open();
    const kept = async () => (await deps.secrets.list("provider-logout/", deps.clock())).length;
    const others = await kept();
    expect(await all.endAtProvider({ ...there, issuedAt: Infinity }, accountId)).toEqual(
      new Set([accountId]),
    );
    expect(await all.find(before)).toBeUndefined();
    expect(await kept()).toBe(others);
    expect(await all.find(await open())).toBeDefined();
  });

  it("ends with its account immediately, also one that is opened during the closing, before the documents show it", async () => {
    const { accountId, epoch } = await member("closing@example.com");
    await opened.catchUp();
    const before = await people().open(accountId, { way: "password", epoch }, { ...from, accountId });
    // Cut off before it has erased anybody.
    const accountsOf = () => Promise.reject(new StoreUnavailable("documents"));
    await closeAccount({ ...deps, accountsOf }, operator, accountId);
    expect((await people().find(before))?.session).toBeUndefined();
    await eraseClosed(deps, operator, accountId);
    const during = await people().open(accountId, { way: "password", epoch }, { ...from, accountId });
    expect(await people().find(before)).toBeUndefined();
    expect(await people().find(during)).toBeUndefined();
  });
});
