// The account page over real HTTP: address, password, sessions, export, closing.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LinkDocument } from "../../../src/projections/definitions/links.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import {
  issuedKey,
  PASSWORD as password,
  signedUp,
  type Visitor,
  visitor,
} from "../../support/portal/browser-like.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1";

describe("the account page", { timeout: 60_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  });
  afterAll(() => service.stop());

  const member = (email: string) => signedUp(service.port, email);
  async function signedInAgain(email: string, given = password): Promise<Visitor> {
    const again = visitor(service.port, { userAgent: PHONE, address: "203.0.113.77" });
    await again.submit("/portal/sign-in", { email, password: given });
    return again;
  }
  const isSignedIn = async (person: Visitor) => (await person.get("/portal/account")).status === 200;

  it("changes the password for who knows the old one, and ends every other session", async () => {
    const person = await member("password@example.com");
    const phone = await signedInAgain("password@example.com");
    const change = (current: string, wanted: string) =>
      person.submit("/portal/account", { password: current, wanted }, "/portal/profile/password");
    expect((await change("not my password", "eight green foxes")).text).toContain(
      "This is not your password",
    );
    expect((await change(password, "tooshort")).text).toContain("at least 10 characters");
    expect((await change(password, "password123")).text).toContain("among the first that anyone would try");
    expect(await isSignedIn(phone)).toBe(true);
    expect((await change(password, "eight green foxes")).text).toContain("Your new password is set.");
    expect([await isSignedIn(person), await isSignedIn(phone)]).toEqual([true, false]);
    expect(await isSignedIn(await signedInAgain("password@example.com"))).toBe(false);
    expect(await isSignedIn(await signedInAgain("password@example.com", "eight green foxes"))).toBe(true);
  });

  it("has no answer to HEAD for the export, which would be made for nobody and counted", async () => {
    const person = await member("head@example.com");
    const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    for (let n = 0; n < 6; n++) {
      const head = await service.ask("/portal/account/export", { method: "HEAD", headers: { cookie } });
      expect([n, head.status]).toEqual([n, 404]);
    }
    expect((await person.get("/portal/account/export")).status).toBe(200);
  });

  it("changes the address: the new one signs in, the old one is free", async () => {
    const person = await member("before@example.com");
    await member("other@example.com");
    const change = (email: string, given = password) =>
      person.submit("/portal/account", { email, password: given }, "/portal/profile/email");
    expect((await change("After@example.com", "wrong password")).text).toContain("This is not your password");
    expect((await change("other@example.com")).text).toContain("exists already");
    expect((await change("nonsense")).text).toContain("valid e-mail address");
    expect((await change("After@example.com")).text).toContain("You sign in with After@example.com");
    expect(await isSignedIn(await signedInAgain("after@example.com"))).toBe(true);
    expect(await isSignedIn(await signedInAgain("before@example.com"))).toBe(false);
    expect(await isSignedIn(await member("before@example.com"))).toBe(true);
  });

  it("lists sessions by browser and network, and signs one or all of them out", async () => {
    const person = await member("sessions@example.com");
    const phone = await signedInAgain("sessions@example.com");
    const tablet = await signedInAgain("sessions@example.com");
    const { text } = await person.get("/portal/profile");
    expect(text).toMatch(/Firefox on Linux[\s\S]*This browser/);
    expect(text).toMatch(/Mobile Safari on iOS[\s\S]*203\.0\.113\.0/);
    expect(text).not.toContain("203.0.113.77");
    const [end = ""] = /\/portal\/profile\/sessions\/[0-9a-f]{64}\/end/.exec(text) ?? [];
    await person.submit("/portal/profile", {}, end);
    const left = [await isSignedIn(phone), await isSignedIn(tablet)];
    expect([await isSignedIn(person), ...left.sort()]).toEqual([true, false, true]);
    await person.submit("/portal/account", {}, "/portal/profile/sessions/end-all");
    const all = [person, phone, tablet].map(isSignedIn);
    expect(await Promise.all(all)).toEqual([false, false, false]);
  });

  it("exports all of the account's events and nobody else's, without the password's hash", async () => {
    const person = await member("export@example.com");
    const key = await issuedKey(person);
    const { key: stranger } = await service.member("free");
    const made = await service.post("/api/v1/shorten", key, { url: "https://example.com/mine" });
    const theirs = await service.post("/api/v1/shorten", stranger, { url: "https://example.com/theirs" });
    for (const { body } of [made, theirs]) await service.ask(`/${body.slug}`);
    const lines = async () => {
      const { text, headers } = await person.get("/portal/account/export");
      expect(headers["content-type"]).toBe("application/x-ndjson");
      expect(headers["content-disposition"]).toMatch(/^attachment; filename="linkledger-.*\.ndjson"$/);
      return text.trimEnd().split("\n");
    };
    const clicks = async () =>
      (await loggedEvents(service.backend.eventStore, { categories: ["clicks"], limit: 10 })).length;
    await expect.poll(clicks).toBe(2);
    const [head, ...events] = (await lines()).map((line) => JSON.parse(line));
    expect(head.email).toBe("export@example.com");
    const types = events.map(({ type }) => type);
    expect(types).toEqual(["AccountOpened", "KeyIssued", "LinkCreated", "LinkClicked"]);
    expect(new Set(events.map(({ data }) => data.accountId))).toEqual(new Set([head.account_id]));
    expect(JSON.stringify(events)).not.toContain("argon2");
  });

  it("closes the account: keys, links and sessions end, its address is erased and free", async () => {
    const person = await member("closing@example.com");
    const key = await issuedKey(person);
    const { body } = await service.post("/api/v1/shorten", key, { url: "https://example.com/" });
    expect((await service.ask(`/${body.slug}`)).status).toBe(301);
    const close = (given: string) =>
      person.submit("/portal/account", { password: given }, "/portal/account/close");
    expect((await close("wrong password")).text).toContain("This is not your password");
    expect((await close(password)).text).toContain("Your account is closed.");
    expect(await isSignedIn(person)).toBe(false);
    expect((await service.ask("/api/v1/links", { key })).status).toBe(401);
    await expect
      .poll(async () => (await service.ask(`/${body.slug}`)).status, { timeout: stretched(1_000) })
      .toBe(404);
    expect(await isSignedIn(await signedInAgain("closing@example.com"))).toBe(false);
    const { secrets, readStore } = service.backend;
    expect(JSON.stringify(await secrets.list("", new Date()))).not.toContain("closing@example.com");
    const link = () => readStore.get<LinkDocument>("links", `localhost/${body.slug}`);
    await expect.poll(async () => (await link())?.deleted, { timeout: 30_000 }).toBe(true);
    expect(await isSignedIn(await member("closing@example.com"))).toBe(true);
  });
});
