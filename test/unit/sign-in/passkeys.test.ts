// Passkeys: who has the key signs in, once for each challenge, and nobody else.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { forgetPasskeys, passkeysOf } from "../../../src/commands/people/passkeys.ts";
import {
  beginAdding,
  beginSignIn,
  finishAdding,
  finishSignIn,
  type PasskeyDeps,
} from "../../../src/sign-in/passkey-ceremonies.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import {
  type AuthenticatorFault,
  SoftwareAuthenticator,
} from "../../support/sign-in/software-authenticator.ts";

const ORIGIN = "https://sho.rt";
const ANNA = randomUUID();

describe("a passkey", () => {
  let opened: Awaited<ReturnType<typeof openCommandDeps>>;
  let deps: PasskeyDeps;
  let now: number;

  beforeEach(async () => {
    opened = await openCommandDeps();
    now = Date.UTC(2026, 10, 29);
    deps = { ...opened.deps, clock: () => new Date(now), baseUrl: ORIGIN };
  });
  afterEach(() => opened.close());

  const add = async (
    authenticator: SoftwareAuthenticator,
    personId = ANNA,
    fault: AuthenticatorFault = {},
  ) => {
    const { options, flow, cookie } = await beginAdding(deps, { personId, label: "anna@people.example" });
    const response = authenticator.create(options, fault);
    return await finishAdding(deps, operator, { personId, name: "Laptop" }, { flow, cookie, response });
  };
  const signIn = async (authenticator: SoftwareAuthenticator, fault: AuthenticatorFault = {}) => {
    const { options, flow, cookie } = await beginSignIn(deps);
    authenticator.counter += 1;
    return await finishSignIn(deps, { flow, cookie, response: authenticator.get(options, fault) });
  };
  const refused = { code: "passkey_refused" };

  it("signs its person in without an address, and is known by when it was used", async () => {
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    const added = await add(authenticator);
    now += 1_000;
    expect(await signIn(authenticator)).toMatchObject({
      personId: ANNA,
      passkeyId: added.passkeyId,
      counter: 1,
    });
    expect(await passkeysOf(deps, ANNA)).toMatchObject([
      { name: "Laptop", usedAt: new Date(now).toISOString() },
    ]);
  });

  it.each<[string, AuthenticatorFault]>([
    ["of another origin", { origin: "https://sho.rt.example" }],
    ["of another host name", { rpId: "sho.rt.example" }],
    ["of whoever found the device", { isVerified: false }],
    ["signed by another key", { signsOther: true }],
    ["that names another person", { userHandle: Buffer.alloc(32, 7).toString("base64url") }],
    ["that can be copied all at once", { isSynced: true }],
  ])("is refused with an answer %s", async (_, fault) => {
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    await add(authenticator);
    await expect(signIn(authenticator, fault)).rejects.toMatchObject(refused);
    expect(await signIn(authenticator)).toMatchObject({ personId: ANNA });
  });

  it("is refused as a copy where its counter has not grown, but where it is synchronised", async () => {
    const own = new SoftwareAuthenticator(ORIGIN);
    const synced = new SoftwareAuthenticator(ORIGIN, { isSynced: true });
    for (const authenticator of [own, synced]) {
      await add(authenticator);
      for (let uses = 0; uses < 3; uses++) await signIn(authenticator);
    }
    await expect(signIn(own, { counter: 2 })).rejects.toThrow("as a copy of it would be");
    expect(await signIn(synced, { counter: 2 })).toMatchObject({ personId: ANNA });
    expect(await signIn(own)).toMatchObject({ personId: ANNA });
  });

  it("answers a challenge once, in the browser that asked, and in time", async () => {
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    await add(authenticator);
    const begun = async () => {
      const { options, flow, cookie } = await beginSignIn(deps);
      authenticator.counter += 1;
      return { flow, cookie, response: authenticator.get(options) };
    };
    const first = await begun();
    const both = await Promise.allSettled([finishSignIn(deps, first), finishSignIn(deps, first)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(finishSignIn(deps, first)).rejects.toMatchObject(refused);
    const second = await begun();
    const other = await beginSignIn(deps);
    await expect(finishSignIn(deps, { ...second, cookie: other.cookie })).rejects.toMatchObject(refused);
    await expect(finishSignIn(deps, { ...second, cookie: undefined })).rejects.toMatchObject(refused);
    expect(await finishSignIn(deps, second)).toMatchObject({ personId: ANNA });
    const third = await begun();
    now += 10 * 60_000;
    await expect(finishSignIn(deps, third)).rejects.toMatchObject(refused);
  });

  it("is of one person, and gone with that person", async () => {
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    await add(authenticator);
    await expect(add(authenticator, randomUUID())).rejects.toThrow("in use already");
    const { options, flow, cookie } = await beginAdding(deps, { personId: ANNA, label: "anna" });
    const response = new SoftwareAuthenticator(ORIGIN).create(options);
    const asAnother = { personId: randomUUID(), name: "Laptop" };
    await expect(finishAdding(deps, operator, asAnother, { flow, cookie, response })).rejects.toMatchObject(
      refused,
    );
    await forgetPasskeys(deps, ANNA);
    await expect(signIn(authenticator)).rejects.toMatchObject(refused);
    expect(await opened.deps.secrets.list("passkey/", new Date(now))).toEqual([]);
  });

  it("is refused for whatever else a form can hold", async () => {
    for (const response of [
      "",
      "null",
      "{}",
      '{"id":"x","response":null}',
      '{"id":"x","response":{}}',
      "[".repeat(20_000),
    ]) {
      const { flow, cookie } = await beginSignIn(deps);
      await expect(finishSignIn(deps, { flow, cookie, response })).rejects.toMatchObject(refused);
      const adding = await beginAdding(deps, { personId: ANNA, label: "anna" });
      const answer = { flow: adding.flow, cookie: adding.cookie, response };
      await expect(finishAdding(deps, operator, { personId: ANNA, name: "x" }, answer)).rejects.toMatchObject(
        refused,
      );
    }
  });
});
