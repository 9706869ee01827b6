// Portal sessions on real stores: a request in flight must not restore an ended session; only a valid password opens
// one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { close } from "../../../src/commands/account/account.ts";
import { onAccount } from "../../../src/commands/account/account-stream.ts";
import { eraseClosed } from "../../../src/commands/account/close-account.ts";
import { signUp } from "../../../src/commands/account/sign-up.ts";
import { changePassword, checkCredentials, hashPassword } from "../../../src/commands/people/password.ts";
import { sessions } from "../../../src/portal/shell/sessions.ts";
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
    const cookie = await sessions(deps).open(accountId, epoch, { ...from, accountId });
    const all = sessions(deps);
    const hourLater = () => new Date(Date.now() + 3_600_000);
    // The request has read the record when all sessions end, and is about to write `seenAt`.
    const secrets = storeWith(deps.secrets, {
      get: async (key, now) => {
        const found = await deps.secrets.get(key, now);
        if (key.startsWith("session/")) await all.endAll(accountId);
        return found;
      },
    });
    await sessions({ ...deps, secrets, clock: hourLater }).find(cookie);
    expect(await all.find(cookie)).toBeUndefined();
    expect(await all.list(accountId)).toEqual([]);
  });

  it("opened by a password that was changed while it was being checked is worth nothing", async () => {
    const { accountId } = await member("late@example.com");
    const proven = await checkCredentials(deps, { email: "late@example.com", password });
    await changePassword(deps, operator, accountId, { current: password, wanted: "eight green foxes" });
    const cookie = await sessions(deps).open(proven.personId, proven.epoch, { ...from, accountId });
    expect(await sessions(deps).find(cookie)).toBeUndefined();
  });

  it("ends with its account immediately, also one that is opened during the closing, before the documents show it", async () => {
    const { accountId, epoch } = await member("closing@example.com");
    await opened.catchUp();
    const before = await sessions(deps).open(accountId, epoch, { ...from, accountId });
    // Cut off before it has erased anything.
    await onAccount(deps, operator, accountId, (account, at) => close(account, { at }));
    expect((await sessions(deps).find(before))?.session).toBeUndefined();
    await eraseClosed(deps, operator, accountId);
    const during = await sessions(deps).open(accountId, epoch, { ...from, accountId });
    expect(await sessions(deps).find(before)).toBeUndefined();
    expect(await sessions(deps).find(during)).toBeUndefined();
  });
});
