// What people are told by mail about what they may do and how they sign in, wherever it was changed: in the portal, by the API or
// the command line.
import type { Role } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { emailSecret } from "../people/secrets.ts";
import type { Mail, Mailer } from "./mailer.ts";

/** `mailer`: undefined where the service sends no mail. `log`: told of mails that were not sent. */
export type MailDeps = {
  secrets: Secrets;
  clock: () => Date;
  mailer: Mailer | undefined;
  log: { error(about: { err: unknown }, what: string): void };
  /** Public origin of the service, without a trailing slash. */
  baseUrl: string;
};

/** `account`: what members call it. */
export type PersonNews =
  | { what: "role"; role: Role; account: string; accountId: string }
  | { what: "removed"; account: string }
  /** A passkey, or an identity at a provider. */
  | { what: "new way to sign in" }
  | { what: "password" };

/** A mail of a subject and paragraphs. */
export function textMail(to: string, [subject = "", ...paragraphs]: readonly string[]): Mail {
  return { to, subject, text: `${paragraphs.join("\n\n")}\n` };
}

/** Nothing in it was chosen by who invites, so that it can't carry their words to strangers. */
export function invitationMail(to: string, link: string): Mail {
  return textMail(to, [
    "You are invited to a Linkledger account",
    "Somebody invites you to look after short links together. Follow this link to see to which account, and to accept:",
    link,
    "It works for seven days, for who signs in with this address. If you don't know what it is about, there is nothing to do.",
  ]);
}

/** Resolves once the mail is sent, or is known not to be: never rejects, so that nobody has to wait for it. */
export async function tellPerson(deps: MailDeps, personId: string, news: PersonNews): Promise<void> {
  const { secrets, clock, mailer, log, baseUrl } = deps;
  if (!mailer) return;
  try {
    const to = await secrets.get(emailSecret(personId), clock());
    if (typeof to === "string" && to !== "") await mailer.send(textMail(to, textOf(news, baseUrl)));
  } catch (err) {
    log.error({ err }, "a mail was not sent");
  }
}

function textOf(news: PersonNews, baseUrl: string): string[] {
  switch (news.what) {
    case "role":
      return [
        "Your role in a Linkledger account was changed",
        `In the account of ${news.account} you are ${news.role} now:`,
        `${baseUrl}/portal/${news.accountId}`,
      ];
    case "removed":
      return [
        "You are no longer a member of a Linkledger account",
        `The account of ${news.account} no longer opens for you, and your own API keys for it have ended.`,
        "If you did not expect that, ask one of its owners.",
      ];
    case "new way to sign in":
      return [
        "There is a new way to sign in as you at Linkledger",
        "A passkey, or your account at a sign-in provider, signs you in from now on.",
        `If that wasn't you, sign in, remove it, and sign out everywhere at once: ${baseUrl}/portal/profile`,
      ];
    case "password":
      return [
        "Your Linkledger password was changed",
        "You sign in with another password from now on, and are signed out everywhere else.",
        `If that wasn't you, choose a new one at once: ${baseUrl}/portal/reset`,
      ];
  }
}
