// What the links that the portal mails are worth once password or address have changed, over real HTTP and SMTP.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { linkIn, type MailReceiver, startMailReceiver } from "../../support/servers/mail-receiver.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const password = "seven brown foxes";

describe("a mailed link", { timeout: 60_000 }, () => {
  let receiver: MailReceiver;
  let service: TestService;
  beforeAll(async () => {
    receiver = await startMailReceiver();
    service = await startTestService({ SMTP_URL: receiver.url, TRUST_PROXY: "127.0.0.1/32" });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  const tokenIn = (link: string) => String(new URLSearchParams(link.split("?")[1]).get("token"));
  async function mailTo(address: string) {
    for (;;) {
      const mail = await receiver.next();
      if (mail.to === address) return mail;
    }
  }
  const stranger = () => visitor(service.port);

  async function signUpLink(email: string): Promise<string> {
    await stranger().submit("/portal/sign-up", { email });
    return linkIn(await mailTo(email));
  }
  async function finish(person: Visitor, link: string) {
    return await person.submit(link, { token: tokenIn(link), password }, "/portal/sign-up/finish");
  }
  async function member(email: string): Promise<Visitor> {
    const person = stranger();
    await finish(person, await signUpLink(email));
    return person;
  }
  async function newAddressLink(person: Visitor, email: string): Promise<string> {
    await person.submit("/portal/account", { email, password }, "/portal/account/email");
    return linkIn(await mailTo(email));
  }
  async function resetLink(email: string): Promise<string> {
    await stranger().submit("/portal/reset", { email });
    return linkIn(await mailTo(email));
  }
  /** As a form that was opened while the link still worked would send it. */
  async function post(path: string, link: string) {
    const token = tokenIn(link);
    return await stranger().submit("/portal/sign-in", { token, password: "nine blue foxes" }, path);
  }
  const signsIn = async (email: string, given = password) =>
    (await stranger().submit("/portal/sign-in", { email, password: given })).status === 200;

  it("that confirms a new address is void once the password has changed", async () => {
    const person = await member("thief-was-here@example.com");
    const link = await newAddressLink(person, "thief@example.com");
    await person.submit(
      "/portal/account",
      { password, wanted: "eight green foxes" },
      "/portal/account/password",
    );
    expect((await stranger().get(link)).status).toBe(404);
    expect((await post("/portal/account/email/confirm", link)).status).toBe(404);
    expect(await signsIn("thief@example.com", "eight green foxes")).toBe(false);
    expect(await signsIn("thief-was-here@example.com", "eight green foxes")).toBe(true);
  });

  it("that confirms a new address is void once the password was reset", async () => {
    const person = await member("forgetful@example.com");
    const link = await newAddressLink(person, "elsewhere@example.com");
    expect((await post("/portal/reset/choose", await resetLink("forgetful@example.com"))).status).toBe(200);
    expect((await post("/portal/account/email/confirm", link)).status).toBe(404);
    expect(await signsIn("elsewhere@example.com", "nine blue foxes")).toBe(false);
  });

  it("that resets the password is void once the address has changed", async () => {
    const person = await member("old-mailbox@example.com");
    const reset = await resetLink("old-mailbox@example.com");
    const confirm = await newAddressLink(person, "new-mailbox@example.com");
    expect((await post("/portal/account/email/confirm", confirm)).status).toBe(200);
    expect((await mailTo("old-mailbox@example.com")).text).toContain("this one no longer signs in");
    expect((await stranger().get(reset)).status).toBe(404);
    expect((await post("/portal/reset/choose", reset)).status).toBe(404);
    expect(await signsIn("new-mailbox@example.com")).toBe(true);
  });

  it("that confirms an address is void once another one was confirmed", async () => {
    const person = await member("undecided@example.com");
    const first = await newAddressLink(person, "first-choice@example.com");
    const second = await newAddressLink(person, "second-choice@example.com");
    expect((await post("/portal/account/email/confirm", second)).status).toBe(200);
    expect((await post("/portal/account/email/confirm", first)).status).toBe(404);
    expect(await signsIn("second-choice@example.com")).toBe(true);
  });

  it("that finishes a sign-up is void once the address has an account", async () => {
    const [first, second] = [await signUpLink("twice@example.com"), await signUpLink("twice@example.com")];
    await finish(stranger(), first);
    expect((await stranger().get(second)).status).toBe(404);
    expect((await post("/portal/sign-up/finish", second)).status).toBe(404);
    expect(await signsIn("twice@example.com")).toBe(true);
  });

  it("that confirms a new address is void once the account is closed, and brings no address back", async () => {
    const person = await member("closing@example.com");
    const link = await newAddressLink(person, "after-closing@example.com");
    const closed = await person.submit("/portal/account", { password }, "/portal/account/close");
    expect(closed.text).toContain("Your account is closed.");
    const before = JSON.stringify(await addresses());
    expect((await stranger().get(link)).status).toBe(404);
    expect((await post("/portal/account/email/confirm", link)).status).toBe(404);
    expect(JSON.stringify(await addresses())).toBe(before);
    expect((await finish(stranger(), await signUpLink("after-closing@example.com"))).status).toBe(200);
  });

  async function addresses() {
    const { secrets } = service.backend;
    const now = new Date();
    return [...(await secrets.list("email/", now)), ...(await secrets.list("account-by-email/", now))];
  }

  it("goes to the address that is stored, not to the spelling that was typed", async () => {
    await member("Mike@example.com");
    while (receiver.waitingMails() > 0) await receiver.next();
    // U+212A, the Kelvin sign: another mailbox to a mail server, the same address by our rule.
    const typed = "mi\u212ae@example.com";
    await stranger().submit("/portal/reset", { email: typed });
    expect((await receiver.next()).to).toBe("Mike@example.com");
    await stranger().submit("/portal/sign-up", { email: typed });
    const already = await receiver.next();
    expect([already.to, already.text]).toEqual(["Mike@example.com", expect.stringMatching(/sign in here/)]);
  });
});
