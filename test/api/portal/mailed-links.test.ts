// Mailed links become void once password or address change or the account is closed, over real HTTP and SMTP.
import { describe, expect, it } from "vitest";
import { PASSWORD as password, type Visitor } from "../../support/portal/browser-like.ts";
import { mailedPortal, tokenIn } from "../../support/portal/mailed-portal.ts";
import { linkIn } from "../../support/servers/mail-receiver.ts";

describe("a mailed link", { timeout: 60_000 }, () => {
  const { receiver, secrets, stranger, mailTo, signUpLink, finishSignUp, member, resetLink } = mailedPortal();

  async function newAddressLink(person: Visitor, email: string): Promise<string> {
    await person.submit("/portal/account", { email, password }, "/portal/account/email");
    return linkIn(await mailTo(email));
  }
  /** Sends the form that a valid link's page would have shown. */
  async function post(path: string, link: string) {
    const token = tokenIn(link);
    return await stranger().submit("/portal/sign-in", { token, password: "nine blue foxes" }, path);
  }
  const signsIn = async (email: string, given = password) =>
    (await stranger().submit("/portal/sign-in", { email, password: given })).status === 200;

  it("that confirms a new address is void once the password has changed", async () => {
    const { person } = await member("thief-was-here@example.com");
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
    const { person } = await member("forgetful@example.com");
    const link = await newAddressLink(person, "elsewhere@example.com");
    expect((await post("/portal/reset/choose", await resetLink("forgetful@example.com"))).status).toBe(200);
    expect((await post("/portal/account/email/confirm", link)).status).toBe(404);
    expect(await signsIn("elsewhere@example.com", "nine blue foxes")).toBe(false);
  });

  it("that resets the password is void once the address has changed", async () => {
    const { person } = await member("old-mailbox@example.com");
    const reset = await resetLink("old-mailbox@example.com");
    const confirm = await newAddressLink(person, "new-mailbox@example.com");
    expect((await post("/portal/account/email/confirm", confirm)).status).toBe(200);
    expect((await mailTo("old-mailbox@example.com")).text).toContain("this one no longer signs in");
    expect((await stranger().get(reset)).status).toBe(404);
    expect((await post("/portal/reset/choose", reset)).status).toBe(404);
    expect(await signsIn("new-mailbox@example.com")).toBe(true);
  });

  it("that confirms an address is void once another one was confirmed", async () => {
    const { person } = await member("undecided@example.com");
    const first = await newAddressLink(person, "first-choice@example.com");
    const second = await newAddressLink(person, "second-choice@example.com");
    expect((await post("/portal/account/email/confirm", second)).status).toBe(200);
    expect((await post("/portal/account/email/confirm", first)).status).toBe(404);
    expect(await signsIn("second-choice@example.com")).toBe(true);
  });

  it("that finishes a sign-up is void once the address has an account", async () => {
    const [first, second] = [await signUpLink("twice@example.com"), await signUpLink("twice@example.com")];
    await finishSignUp(stranger(), first);
    expect((await stranger().get(second)).status).toBe(404);
    expect((await post("/portal/sign-up/finish", second)).status).toBe(404);
    expect(await signsIn("twice@example.com")).toBe(true);
  });

  it("that confirms a new address is void once the account is closed, and brings no address back", async () => {
    const { person } = await member("closing@example.com");
    const link = await newAddressLink(person, "after-closing@example.com");
    const closed = await person.submit("/portal/account", { password }, "/portal/account/close");
    expect(closed.text).toContain("Your account is closed.");
    const stored = JSON.stringify(await addresses());
    expect((await stranger().get(link)).status).toBe(404);
    expect((await post("/portal/account/email/confirm", link)).status).toBe(404);
    expect(JSON.stringify(await addresses())).toBe(stored);
    expect((await finishSignUp(stranger(), await signUpLink("after-closing@example.com"))).status).toBe(200);
  });

  async function addresses() {
    const now = new Date();
    const categories = ["email/", "account-by-email/"];
    return await Promise.all(categories.map((prefix) => secrets().list(prefix, now)));
  }

  it("goes to the address that is stored, not to the spelling that was typed", async () => {
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
});
