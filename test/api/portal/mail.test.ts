// Sign-up and password reset by mail, against a real mail server on loopback; and the portal without a mail server.
import { describe, expect, it } from "vitest";
import { issuePasswordReset } from "../../../src/commands/account/one-time-tokens.ts";
import { PASSWORD as password, visitor } from "../../support/portal/browser-like.ts";
import { mailedPortal, tokenIn } from "../../support/portal/mailed-portal.ts";
import { startMailReceiver } from "../../support/servers/mail-receiver.ts";
import { startTestService } from "../../support/service/start-service.ts";

describe("the portal with a mail server", { timeout: 60_000 }, () => {
  const { receiver, stranger, mailTo, member, resetLink } = mailedPortal();

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
    const { path } = await issuePasswordReset(deps, accountId, 60_000);
    const chosen = await person.submit(path, { token: tokenIn(path), password }, "/portal/reset/choose");
    expect(chosen.text).toContain("member-1@example.com");
    await service.stop();
  });
});
