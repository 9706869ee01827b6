// Password guessing over real HTTP: wrong passwords lock out strangers, but not the owner.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portalCookies } from "../../../src/portal/shell/request-visit.ts";
import { PASSWORD as password, signedUp, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const DEVICE = /^linkledger-device-/;

describe("while somebody guesses passwords", { timeout: 120_000 }, () => {
  let service: TestService;
  let people = 0;
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  });
  afterAll(() => service.stop());

  /** Each from its own address, so that limits by address don't interfere. */
  const another = () => ({ address: `198.51.100.${++people}` });
  const stranger = () => visitor(service.port, another());
  const member = (email: string) => signedUp(service.port, email, another());
  const signIn = async (person: Visitor, email: string, given = password) =>
    (await person.submit("/portal/sign-in", { email, password: given })).status;
  const signOut = (person: Visitor) => person.submit("/portal/account", {}, "/portal/sign-out");

  /** 105 wrong passwords: the limit of each of seven addresses. */
  async function guess(email: string): Promise<number[]> {
    const lanes = Array.from({ length: 7 }, async () => {
      const attacker = stranger();
      const statuses = [];
      for (let n = 0; n < 15; n++) statuses.push(await signIn(attacker, email, `wrong guess ${n}`));
      return statuses;
    });
    return (await Promise.all(lanes)).flat();
  }

  it("from seven addresses, the owner signs in where they did before, and changes what is theirs", async () => {
    const email = "owner@example.com";
    const [laptop, phone] = [await member(email), stranger()];
    expect(await signIn(phone, email)).toBe(200);
    await signOut(laptop);
    const statuses = await guess(email);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(await signIn(stranger(), email)).toBe(429);

    expect(await signIn(laptop, email)).toBe(200);
    const changed = await phone.submit(
      "/portal/account",
      { password, wanted: "eight green foxes" },
      "/portal/profile/password",
    );
    expect(changed.text).toContain("Your new password is set.");
    await signOut(phone);
    expect(await signIn(phone, email, "eight green foxes")).toBe(200);
    expect(await signIn(laptop, email, "eight green foxes")).toBe(200);
    const closed = await phone.submit(
      "/portal/account",
      { password: "eight green foxes" },
      "/portal/account/close",
    );
    expect(closed.text).toContain("Your account is closed.");
    expect(await service.backend.secrets.list("device/", new Date())).toEqual([]);
  });

  it("a known browser has 15 tries an hour of its own, and costs the others none", async () => {
    const email = "household@example.com";
    const [known, other] = [await member(email), stranger()];
    expect(await signIn(other, email)).toBe(200);
    await Promise.all([signOut(known), signOut(other)]);
    for (let n = 0; n < 15; n++) expect(await signIn(known, email, "a wrong guess")).toBe(401);
    expect(await signIn(known, email)).toBe(429);
    expect(await signIn(other, email)).toBe(200);
  });

  it("a browser is known to the accounts it signed in to, and to no other", async () => {
    const [mine, theirs] = ["mine@example.com", "theirs@example.com"];
    await member(theirs);
    const attacker = await member(mine);
    const [name = "", value = ""] = [...attacker.cookies].find(([cookie]) => DEVICE.test(cookie)) ?? [];
    const victim = await accountIdOf(theirs);
    await signOut(attacker);
    // Named like the victim's device cookie.
    const planted = stranger();
    planted.cookies.set(name, value);
    planted.cookies.set(name.replace(/[^-]+$/, await nameOf(victim)), value);
    for (let n = 0; n < 15; n++) expect(await signIn(planted, theirs, "a wrong guess")).toBe(401);
    const sameAddress = visitor(service.port, { address: `198.51.100.${people}` });
    expect(await signIn(sameAddress, theirs)).toBe(429);
  });

  it("proofs of the password are counted by the session they are made in", async () => {
    const email = "proofs@example.com";
    const [borrowed, own] = [await member(email), stranger()];
    expect(await signIn(own, email)).toBe(200);
    const prove = async (person: Visitor, given: string) =>
      (await person.submit("/portal/account", { email, password: given }, "/portal/profile/email")).status;
    for (let n = 0; n < 15; n++) expect(await prove(borrowed, "a wrong guess")).toBe(403);
    expect(await prove(borrowed, password)).toBe(429);
    expect(await prove(own, password)).toBe(200);
  });

  it("a browser that was signed out everywhere is known no more, one whose password changed is", async () => {
    const email = "everywhere@example.com";
    const person = await member(email);
    await person.submit(
      "/portal/account",
      { password, wanted: "eight green foxes" },
      "/portal/profile/password",
    );
    await signOut(person);
    const sameAddress = visitor(service.port, { address: `198.51.100.${people}` });
    for (let n = 0; n < 15; n++) expect(await signIn(sameAddress, email, "a wrong guess")).toBe(401);
    expect(await signIn(person, email, "eight green foxes")).toBe(200);
    await person.submit("/portal/account", {}, "/portal/profile/sessions/end-all");
    expect(await signIn(person, email, "eight green foxes")).toBe(429);
  });

  it("keeps at most 20 browsers of an account, the newest, and of each only a digest", async () => {
    const email = "many@example.com";
    const first = await member(email);
    const accountId = await accountIdOf(email);
    let last = first;
    for (let n = 0; n < 20; n++) {
      last = stranger();
      expect(await signIn(last, email)).toBe(200);
    }
    const kept = await service.backend.secrets.list(`device/${accountId}/`, new Date());
    expect(kept).toHaveLength(20);
    const token = String([...last.cookies].find(([name]) => DEVICE.test(name))?.[1]);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(JSON.stringify(await service.backend.secrets.list("", new Date()))).not.toContain(token);
  });

  async function accountIdOf(email: string): Promise<string> {
    const found = await service.backend.secrets.list("email/", new Date());
    return String(found.find(({ value }) => value === email)?.key.slice("email/".length));
  }
  /** The suffix of the account's device cookie name. */
  async function nameOf(accountId: string): Promise<string> {
    return String(portalCookies("http://localhost").device(accountId).split("-").at(-1));
  }
});
