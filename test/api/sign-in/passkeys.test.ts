// Passkeys over real HTTP with a software authenticator: what a browser that is not ours can send, and who may change what.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removePerson } from "../../../src/commands/people/change-person.ts";
import { removePasskey, removePassword } from "../../../src/commands/people/sign-in-ways.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { decoded, PASSWORD, signedUp, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { join } from "../../support/portal/colleagues.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";
import {
  type AuthenticatorFault,
  type Begun,
  SoftwareAuthenticator,
} from "../../support/sign-in/software-authenticator.ts";

const ORIGIN = "http://localhost";
const MINUTE_MS = 60_000;

describe("passkeys", { timeout: 60_000 }, () => {
  let service: TestService;
  let people: ReturnType<typeof portalPeople>;
  let addresses = 0;
  let later = 0;
  const clock = () => new Date(Date.now() + later);
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "loopback" }, clock);
    people = portalPeople(service);
  });
  afterAll(() => service.stop());

  const stranger = () => visitor(service.port, { address: `203.0.113.${++addresses}` });
  const begin = async (who: Visitor, path: string, fields = {}) =>
    (await who.post(`${path}/begin`, fields)).body as Begun;
  /** What a browser sends that has asked its authenticator. */
  async function added(who: Visitor, authenticator: SoftwareAuthenticator, password = PASSWORD) {
    const path = "/portal/profile/passkeys";
    const { flow, options } = await begin(who, path, { password });
    return await who.post(path, { name: "Laptop", flow, response: authenticator.create(options) });
  }
  async function answer(who: Visitor, authenticator: SoftwareAuthenticator, fault: AuthenticatorFault = {}) {
    const { flow, options } = await begin(who, "/portal/sign-in/passkey");
    authenticator.counter += 1;
    return { flow, response: authenticator.get(options, fault) };
  }
  const send = async (who: Visitor, fields: Record<string, string>) =>
    (await who.post("/portal/sign-in/passkey", fields)).status;
  async function signedIn(authenticator: SoftwareAuthenticator, who = stranger()): Promise<Visitor> {
    expect(await send(who, await answer(who, authenticator))).toBe(303);
    return who;
  }
  async function withPasskey(): Promise<{ person: Person; authenticator: SoftwareAuthenticator }> {
    const [person, authenticator] = [await people.person(), new SoftwareAuthenticator(ORIGIN)];
    expect((await added(person, authenticator)).status).toBe(303);
    return { person, authenticator };
  }
  const sessionOf = ({ cookies }: Visitor) => cookies.get("linkledger-session");
  const profile = async (who: Visitor) => decoded((await who.get("/portal/profile")).text);
  const idsOn = async (who: Visitor) =>
    [...(await profile(who)).matchAll(/action="\/portal\/profile\/passkeys\/([0-9a-f-]{36})\/remove/g)].map(
      ([, id = ""]) => id,
    );
  const deps = () => ({
    ...{ ...runtimeDeps, ...service.backend, clock },
    ...{ signIn: ["password", "passkey"] as const, baseHost: "localhost" },
  });

  it("sign in without an address, by a session of its own each time", async () => {
    const { person, authenticator } = await withPasskey();
    const browser = stranger();
    browser.cookies.set("linkledger-session", `${person.accountId}.${"x".repeat(43)}`);
    const before = sessionOf(browser);
    await signedIn(authenticator, browser);
    const first = sessionOf(browser);
    await signedIn(authenticator, browser);
    expect(new Set([before, first, sessionOf(browser)]).size).toBe(3);
    expect(await profile(browser)).toMatch(/Passkey<[\s\S]*This browser/);
    const old = stranger();
    old.cookies.set("linkledger-session", String(first));
    expect((await old.get("/portal/profile")).status).toBe(303);
  });

  it("are answered once, in the browser that asked, and of two at once one signs in", async () => {
    const { authenticator } = await withPasskey();
    const browser = stranger();
    const fields = await answer(browser, authenticator);
    // Another browser, such as that of who has sent the answer on.
    expect(await send(stranger(), fields)).toBe(403);
    const cookies = [...browser.cookies];
    const twin = stranger();
    for (const [name, value] of cookies) twin.cookies.set(name, value);
    const both = await Promise.all([send(browser, fields), send(twin, fields)]);
    expect(both.sort()).toEqual([303, 403]);
    expect(await send(twin, fields)).toBe(403);
  });

  it("are added by who knows the password, to their own person, and nowhere twice", async () => {
    const { person, authenticator } = await withPasskey();
    const other = await people.person();
    const path = "/portal/profile/passkeys";
    for (const password of ["", "not my password"])
      expect((await other.post(`${path}/begin`, { password })).status).toBe(403);
    expect((await added(other, authenticator)).status).toBe(403);
    // What one person's browser has begun, another can't end, cookies and all.
    const { flow, options } = await begin(person, path, { password: PASSWORD });
    const response = new SoftwareAuthenticator(ORIGIN).create(options);
    const cookie = [...person.cookies].find(([name]) => name.includes("passkey")) ?? ["", ""];
    other.cookies.set(...cookie);
    expect((await other.post(path, { name: "Mine", flow, response })).status).toBe(403);
    expect([(await idsOn(other)).length, (await idsOn(person)).length]).toEqual([0, 1]);
    expect((await stranger().post(`${path}/begin`, { password: PASSWORD })).status).toBe(303);
  });

  it("are refused with one answer for unknown ones and wrong ones, and a copy by its counter", async () => {
    const { person, authenticator } = await withPasskey();
    await signedIn(authenticator);
    await signedIn(authenticator);
    const refusal = async (of: SoftwareAuthenticator, fault: AuthenticatorFault = {}) => {
      const who = stranger();
      const { status, text } = await who.post("/portal/sign-in/passkey", await answer(who, of, fault));
      return [status, /role="alert">.*?<p>(.*?)<\/p>/s.exec(decoded(text))?.[1]];
    };
    const unknown = await refusal(new SoftwareAuthenticator(ORIGIN));
    expect(unknown).toEqual([403, expect.stringContaining("not known here")]);
    for (const fault of [{ isVerified: false }, { signsOther: true }, { origin: "http://localhost.example" }])
      expect(await refusal(authenticator, fault)).toEqual(unknown);
    expect(await refusal(authenticator, { counter: 1 })).toEqual([
      403,
      expect.stringContaining("as a copy of it would be"),
    ]);
    expect(await profile(person)).toContain("A copy of it was used");
  });

  it("let who has no password change what matters right after signing in, and not later", async () => {
    const { person, authenticator } = await withPasskey();
    const browser = await signedIn(authenticator);
    const path = "/portal/profile/password/remove";
    expect((await person.submit("/portal/profile", {}, path)).status).toBe(403);
    expect((await browser.submit("/portal/profile", {}, path)).text).toContain("Your password is removed.");
    expect(await send(person, {})).toBe(403);
    expect((await person.get("/portal/profile")).status).toBe(303);
    const change = (email: string) => browser.submit("/portal/profile", { email }, "/portal/profile/email");
    expect((await change("new-1@example.com")).text).toContain("You sign in with new-1@example.com");

    later += 11 * MINUTE_MS;
    const page = await profile(browser);
    expect([page.includes("Is it you?"), page.includes("new-email")]).toEqual([true, false]);
    const refused = await change("new-2@example.com");
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("Sign in again first")]);
    for (const [form, status] of [
      ["/portal/profile/password", 403],
      ["/portal/profile/passkeys/begin", 403],
      [`/portal/profile/passkeys/${(await idsOn(browser))[0] ?? crypto.randomUUID()}/remove`, 403],
      ["/portal/account/close", 403],
    ] as const)
      expect([
        form,
        (await browser.post(form, { password: "", wanted: "eight green foxes" })).status,
      ]).toEqual([form, status]);
    expect((await browser.get("/portal/sign-in?again=1&next=/portal/account")).status).toBe(200);
    await signedIn(authenticator, browser);
    expect((await change("new-2@example.com")).text).toContain("You sign in with new-2@example.com");
    const closed = await browser.submit("/portal/account", {}, "/portal/account/close");
    expect(closed.text).toContain("Your account is closed.");
    const kept = await service.backend.secrets.list("passkey", clock());
    expect(kept.filter(({ key, value }) => JSON.stringify([key, value]).includes(person.accountId))).toEqual(
      [],
    );
    const again = stranger();
    expect(await send(again, await answer(again, authenticator))).toBe(403);
  });

  it("are never all removed, however many are removed at once", async () => {
    const { person, authenticator } = await withPasskey();
    for (let n = 0; n < 3; n++) await added(person, new SoftwareAuthenticator(ORIGIN));
    const browser = await signedIn(authenticator);
    await browser.post("/portal/profile/password/remove");
    const ids = await idsOn(browser);
    expect(ids).toHaveLength(4);
    const removed = ids.map((id) => browser.post(`/portal/profile/passkeys/${id}/remove`));
    for (const { status } of await Promise.all(removed)) expect([303, 409]).toContain(status);
    for (const id of ids) await browser.post(`/portal/profile/passkeys/${id}/remove`);
    const [last = ""] = await idsOn(browser);
    expect(await idsOn(browser)).toHaveLength(1);
    await expect(removePasskey(deps(), operator, person.accountId, last)).rejects.toMatchObject({
      code: "last_way_to_sign_in",
    });
  });

  it("leave ids in the log and nothing else, and nothing at all where their person is removed", async () => {
    const { person, authenticator } = await withPasskey();
    const events = await service.backend.eventStore.read(`person-${person.accountId}`);
    const [{ data, metadata } = { data: undefined, metadata: undefined }] = events.filter(
      ({ type }) => type === "PasskeyAdded",
    );
    expect(data).toEqual({
      personId: person.accountId,
      at: expect.any(String),
      passkeyId: (await idsOn(person))[0],
    });
    expect(metadata?.actor).toEqual({ type: "person", id: person.accountId });
    const secrets = async () => JSON.stringify(await service.backend.secrets.list("passkey", clock()));
    expect(await secrets()).toContain(authenticator.credentialId);
    await removePerson(deps(), operator, person.accountId);
    expect(await secrets()).not.toContain(person.accountId);
  });

  it("are had by who is in no account, too, as is the rest of the profile", async () => {
    const [owner, leaver] = [await people.person(), stranger()];
    const personId = await join(owner, leaver, "leaver@example.com", "viewer");
    expect((await owner.post(`/portal/members/${personId}/remove`)).status).toBe(303);
    expect((await leaver.get("/portal/links")).headers.location).toBe("/portal/accounts");
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    expect((await added(leaver, authenticator)).status).toBe(303);
    const browser = await signedIn(authenticator);
    expect((await browser.post("/portal/profile/name", { name: "Lea" })).status).toBe(303);
    expect(await profile(browser)).toContain('value="Lea"');
  });

  it("have the names that their person gives them", async () => {
    const { person } = await withPasskey();
    const [id = ""] = await idsOn(person);
    const rename = (who: Visitor, name: string) =>
      who.post(`/portal/profile/passkeys/${id}/rename`, { name });
    expect((await rename(person, "Phone <3")).status).toBe(303);
    expect(await profile(person)).toContain("Phone <3");
    expect((await rename(await people.person(), "Theirs")).status).toBe(404);
    expect((await rename(person, "")).status).toBe(303);
    expect(await profile(person)).toContain("Phone <3");
  });
});

describe("passkeys of a service that has got another host name", () => {
  it("say so, sign nobody in, and are no way to sign in", { timeout: 60_000 }, async () => {
    const folder = await temporaryFolder();
    const environment = { DATA_DIR: folder.path, TRUST_PROXY: "loopback" };
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    const path = "/portal/profile/passkeys";
    const email = "moved@example.com";

    const before = await startTestService(environment);
    const person = await signedUp(before.port, email);
    const { flow, options } = (await person.post(`${path}/begin`, { password: PASSWORD })).body as Begun;
    const name = "Laptop";
    expect((await person.post(path, { name, flow, response: authenticator.create(options) })).status).toBe(
      303,
    );
    await before.stop();

    const after = await startTestService({ ...environment, BASE_URL: "http://other.localhost" });
    const host = { host: "other.localhost" };
    const at = visitor(after.port, host);
    await at.submit("/portal/sign-in", { email, password: PASSWORD });
    const page = decoded((await at.get("/portal/profile")).text);
    expect(page).toContain("Works at localhost only");
    const begun = (await at.post("/portal/sign-in/passkey/begin")).body as Begun;
    authenticator.counter += 1;
    for (const fault of [{}, { origin: "http://other.localhost" }]) {
      const response = authenticator.get(begun.options, fault);
      const { status } = await at.post("/portal/sign-in/passkey", { flow: begun.flow, response });
      expect(status).toBe(403);
    }
    const personId = String(at.cookies.get("linkledger-session")?.split(".")[0]);
    const deps = { ...runtimeDeps, ...after.backend, baseHost: "other.localhost" };
    const signIn = ["password", "passkey"] as const;
    await expect(removePassword({ ...deps, signIn }, operator, personId)).rejects.toMatchObject({
      code: "last_way_to_sign_in",
    });
    await after.stop();
    await folder.remove();
  });
});

describe("passkeys that are off", () => {
  it.each([
    ["by SIGN_IN", { SIGN_IN: "password" }],
    ["as addresses have none", { BASE_URL: "http://127.0.0.1" }],
  ])("%s are offered nowhere", { timeout: 60_000 }, async (_, environment) => {
    const service = await startTestService({ TRUST_PROXY: "loopback", ...environment });
    const person = await portalPeople(service).person();
    for (const page of ["/portal/profile", "/portal/sign-in?again=1"])
      expect((await person.get(page)).text.toLowerCase()).not.toContain("passkey<");
    for (const form of ["/portal/sign-in/passkey/begin", "/portal/profile/passkeys/begin"])
      expect((await person.post(form, { password: PASSWORD })).status).toBe(404);
    await service.stop();
  });
});
