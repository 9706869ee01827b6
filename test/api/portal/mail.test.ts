// Sign-up, password reset and change of address by mail, against a real mail server on loopback: what each link does,
// and what makes it void; and the portal without a mail server.
import { describe, expect, it } from "vitest";
import { changeEmail, isEmailProven } from "../../../src/commands/people/email.ts";
import { issuePasswordReset } from "../../../src/commands/people/one-time-tokens.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { PASSWORD as password, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { personIn } from "../../support/portal/colleagues.ts";
import { mailedPortal, tokenIn } from "../../support/portal/mailed-portal.ts";
import { linkIn, startMailReceiver } from "../../support/servers/mail-receiver.ts";
import { startTestService } from "../../support/service/start-service.ts";
import { type Begun, SoftwareAuthenticator } from "../../support/sign-in/software-authenticator.ts";

describe("the portal with a mail server", { timeout: 60_000 }, () => {
  const { receiver, service, stranger, mailTo, signUpLink, finishSignUp, member, resetLink } = mailedPortal();

  it("opens an account only behind the link in the mail, once", async () => {
    const { landed, link, person } = await member("proven@example.com");
    const token = tokenIn(link);
    expect(landed.text).toContain("proven@example.com");
    expect((await person.get(link)).status).toBe(404);
    const again = await person.submit("/portal/keys", { token, password }, "/portal/sign-up/finish");
    expect(again.status).toBe(404);
  });

  it("answers a taken address as a free one, and writes to its owner that it is taken", async () => {
    await member("taken@example.com");
    const free = await stranger().submit("/portal/sign-up", { email: "nobody@example.com" });
    await mailTo("nobody@example.com");
    const taken = await stranger().submit("/portal/sign-up", { email: "taken@example.com" });
    expect((await mailTo("taken@example.com")).text).toMatch(/sign in here/);
    const plain = (text: string) => text.replace(/value="[^"]*"/g, "").replace(/(nobody|taken)@/g, "x@");
    expect([taken.status, plain(taken.text)]).toEqual([free.status, plain(free.text)]);
  });

  it("sets a new password behind the mailed link, once, and ends every session of the old one", async () => {
    const { person } = await member("lost@example.com");
    const forgetful = stranger();
    const link = await resetLink("lost@example.com", "Lost@example.com");
    const token = tokenIn(link);
    const tooShort = await forgetful.submit(link, { token, password: "short" }, "/portal/reset/choose");
    expect([tooShort.status, tooShort.text]).toEqual([400, expect.stringContaining("at least 10")]);
    const chosen = await forgetful.submit(
      link,
      { token, password: "eight green foxes" },
      "/portal/reset/choose",
    );
    expect(chosen.text).toContain("Your new password is set.");
    expect((await person.get("/portal/keys")).status).toBe(303);
    expect((await forgetful.get("/portal/keys")).status).toBe(200);
    expect((await stranger().get(link)).status).toBe(404);
    const old = await stranger().submit("/portal/sign-in", {
      email: "lost@example.com",
      password,
    });
    expect(old.status).toBe(401);
  });

  it("tells who has got another way to sign in", async () => {
    const { person } = await member("keyed@example.com");
    const path = "/portal/profile/passkeys";
    const begun = (await person.post(`${path}/begin`, { password })).body as Begun;
    const response = new SoftwareAuthenticator("http://localhost").create(begun.options);
    expect((await person.post(path, { flow: begun.flow, response })).status).toBe(303);
    const { text } = await mailTo("keyed@example.com");
    expect(text).toMatch(/There is a new way to sign in[\s\S]*\/portal\/profile/);
  });

  it("answers a reset for nobody as for somebody, and writes to nobody", async () => {
    const { status, text } = await stranger().submit("/portal/reset", {
      email: "void@example.com",
    });
    expect([status, text]).toEqual([200, expect.stringContaining("If there is an account for")]);
    expect(receiver().waitingMails()).toBe(0);
  });

  it("writes five mails an hour to an address at most", async () => {
    const email = "busy@example.com";
    for (let round = 0; round < 5; round++) {
      expect((await stranger().submit("/portal/reset", { email })).status).toBe(200);
    }
    const refused = await stranger().submit("/portal/reset", { email });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, expect.any(String)]);
  });

  async function newAddressLink(person: Visitor, email: string): Promise<string> {
    await person.submit("/portal/account", { email, password }, "/portal/profile/email");
    return linkIn(await mailTo(email));
  }
  /** Sends the form that a valid link's page would have shown. */
  async function post(path: string, link: string) {
    const token = tokenIn(link);
    return await stranger().submit("/portal/sign-in", { token, password: "nine blue foxes" }, path);
  }
  const signsIn = async (email: string, given = password) =>
    (await stranger().submit("/portal/sign-in", { email, password: given })).status === 200;

  it("voids a link that confirms a new address once the password has changed", async () => {
    const { person } = await member("thief-was-here@example.com");
    const link = await newAddressLink(person, "thief@example.com");
    await person.submit(
      "/portal/account",
      { password, wanted: "eight green foxes" },
      "/portal/profile/password",
    );
    expect((await stranger().get(link)).status).toBe(404);
    expect((await post("/portal/profile/email/confirm", link)).status).toBe(404);
    expect(await signsIn("thief@example.com", "eight green foxes")).toBe(false);
    expect(await signsIn("thief-was-here@example.com", "eight green foxes")).toBe(true);
  });

  it("voids a link that confirms a new address once the password was reset", async () => {
    const { person } = await member("forgetful@example.com");
    const link = await newAddressLink(person, "elsewhere@example.com");
    expect((await post("/portal/reset/choose", await resetLink("forgetful@example.com"))).status).toBe(200);
    expect((await post("/portal/profile/email/confirm", link)).status).toBe(404);
    expect(await signsIn("elsewhere@example.com", "nine blue foxes")).toBe(false);
  });

  it("voids a link that resets the password once the address has changed", async () => {
    const { person } = await member("old-mailbox@example.com");
    const reset = await resetLink("old-mailbox@example.com");
    const confirm = await newAddressLink(person, "new-mailbox@example.com");
    expect((await post("/portal/profile/email/confirm", confirm)).status).toBe(200);
    expect((await mailTo("old-mailbox@example.com")).text).toContain("this one no longer signs in");
    expect((await stranger().get(reset)).status).toBe(404);
    expect((await post("/portal/reset/choose", reset)).status).toBe(404);
    expect(await signsIn("new-mailbox@example.com")).toBe(true);
  });

  it("voids a link that confirms an address once another one was confirmed", async () => {
    const { person } = await member("undecided@example.com");
    const first = await newAddressLink(person, "first-choice@example.com");
    const second = await newAddressLink(person, "second-choice@example.com");
    expect((await post("/portal/profile/email/confirm", second)).status).toBe(200);
    expect((await post("/portal/profile/email/confirm", first)).status).toBe(404);
    expect(await signsIn("second-choice@example.com")).toBe(true);
  });

  it("voids a link that finishes a sign-up once the address has an account", async () => {
    const [first, second] = [await signUpLink("twice@example.com"), await signUpLink("twice@example.com")];
    await finishSignUp(stranger(), first);
    expect((await stranger().get(second)).status).toBe(404);
    expect((await post("/portal/sign-up/finish", second)).status).toBe(404);
    expect(await signsIn("twice@example.com")).toBe(true);
  });

  it("voids a link that confirms a new address once the account is closed and brings no address back", async () => {
    const { person } = await member("closing@example.com");
    const link = await newAddressLink(person, "after-closing@example.com");
    const closed = await person.submit("/portal/account", { password }, "/portal/account/close");
    expect(closed.text).toContain("Your account is closed.");
    const stored = JSON.stringify(await addresses());
    expect((await stranger().get(link)).status).toBe(404);
    expect((await post("/portal/profile/email/confirm", link)).status).toBe(404);
    expect(JSON.stringify(await addresses())).toBe(stored);
    expect((await finishSignUp(stranger(), await signUpLink("after-closing@example.com"))).status).toBe(200);
  });

  async function addresses() {
    const now = new Date();
    const categories = ["email/", "account-by-email/"];
    return await Promise.all(categories.map((prefix) => service().backend.secrets.list(prefix, now)));
  }

  it("takes an address as proven by a mailed link alone, and no longer once it is another one", async () => {
    const by = { ...runtimeDeps, ...service().backend };
    const isProven = (one: Visitor) => isEmailProven(by, personIn(one));
    const { person } = await member("shown@example.com");
    expect(await isProven(person)).toBe(true);
    await changeEmail(by, personIn(person), "unseen@example.com");
    expect(await isProven(person)).toBe(false);
    const link = await newAddressLink(person, "Seen@example.com");
    expect(await isProven(person)).toBe(false);
    expect((await post("/portal/profile/email/confirm", link)).status).toBe(200);
    expect(await isProven(person)).toBe(true);

    const guest = stranger();
    await person.submit("/portal/members", { email: "guest@example.com", role: "viewer" });
    const invitation = linkIn(await mailTo("guest@example.com"));
    const { id = "", token = "" } = Object.fromEntries(new URLSearchParams(invitation.split("?")[1]));
    expect((await guest.post("/portal/invitation", { id, token, password })).status).toBe(303);
    expect(await isProven(guest)).toBe(true);

    const { accountId } = await service().member("free");
    const chosen = async (link: string) => {
      const one = stranger();
      const sent = { token: tokenIn(link), password };
      expect((await one.post("/portal/reset/choose", sent)).status).toBe(303);
      return await isEmailProven(by, accountId);
    };
    const handed = { lifetimeMs: 60_000, isMailed: false };
    expect(await chosen((await issuePasswordReset(by, accountId, handed)).path)).toBe(false);
    // Also where it was the operator who chose it.
    expect((await mailTo("member-1@example.com")).text).toContain("password was changed");
    expect(await chosen(await resetLink("member-1@example.com"))).toBe(true);
  });

  it("writes to the address that is stored, not to the spelling that was typed", async () => {
    await member("Mike@example.com");
    while (receiver().waitingMails() > 0) await receiver().next();
    // U+212A, the Kelvin sign: another mailbox for a mail server, but equal by normalEmail.
    const typed = "mi\u212ae@example.com";
    await stranger().submit("/portal/reset", { email: typed });
    expect((await receiver().next()).to).toBe("Mike@example.com");
    await stranger().submit("/portal/sign-up", { email: typed });
    const already = await receiver().next();
    expect([already.to, already.text]).toEqual(["Mike@example.com", expect.stringMatching(/sign in here/)]);
  });

  it("logs that a mail could not be sent, without the recipient", async () => {
    const refusing = await startMailReceiver({ refuse: true });
    const other = await startTestService({ SMTP_URL: refusing.url });
    await visitor(other.port).submit("/portal/sign-up", { email: "person@example.com" });
    await expect.poll(() => other.logged.join("")).toContain("a mail was not sent");
    expect(other.logged.join("")).not.toContain("person@");
    await other.stop();
    await refusing.stop();
  });
});

describe("the portal without a mail server", { timeout: 60_000 }, () => {
  it("says how the operator resets a password, and takes the operator's link", async () => {
    const service = await startTestService();
    const { backend } = service;
    const { accountId } = await service.member("free");
    const person = visitor(service.port);
    expect((await person.get("/portal/reset")).text).toContain("account password you@example.com");
    const deps = { ...backend, clock: () => new Date(), newId: () => crypto.randomUUID() };
    const { path } = await issuePasswordReset(deps, accountId, { lifetimeMs: 60_000, isMailed: false });
    const chosen = await person.submit(path, { token: tokenIn(path), password }, "/portal/reset/choose");
    expect(chosen.text).toContain("member-1@example.com");
    await service.stop();
  });
});
