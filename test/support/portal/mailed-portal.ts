// A portal with a real mail server on loopback, and functions that follow the links in its mails.
import { afterAll, beforeAll } from "vitest";
import { linkIn, type MailReceiver, type ReceivedMail, startMailReceiver } from "../servers/mail-receiver.ts";
import type { Answer } from "../service/ask.ts";
import { startTestService, type TestService } from "../service/start-service.ts";
import { PASSWORD, type Visitor, visitor } from "./browser-like.ts";

/** Call it inside a describe block: registers its hooks there. */
export function mailedPortal() {
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

  const stranger = () => visitor(service.port);

  /** Skips mails to others. */
  async function mailTo(address: string): Promise<ReceivedMail> {
    for (;;) {
      const mail = await receiver.next();
      if (mail.to === address) return mail;
    }
  }

  async function signUpLink(email: string): Promise<string> {
    await stranger().submit("/portal/sign-up", { email });
    return linkIn(await mailTo(email));
  }

  async function finishSignUp(person: Visitor, link: string): Promise<Answer<unknown>> {
    const fields = { token: tokenIn(link), password: PASSWORD };
    return await person.submit(link, fields, "/portal/sign-up/finish");
  }

  return {
    receiver: () => receiver,
    service: () => service,
    stranger,
    mailTo,
    signUpLink,
    finishSignUp,
    /** Signs up with PASSWORD; `landed`: the page after the last form. */
    async member(email: string) {
      const [person, link] = [stranger(), await signUpLink(email)];
      return { person, link, landed: await finishSignUp(person, link) };
    },
    /** `typed`: as it is entered in the form; the mail goes to the stored address. */
    async resetLink(email: string, typed = email): Promise<string> {
      await stranger().submit("/portal/reset", { email: typed });
      return linkIn(await mailTo(email));
    },
  };
}

/** The token in the query of a mailed link. */
export function tokenIn(link: string): string {
  return String(new URLSearchParams(link.split("?")[1]).get("token"));
}
