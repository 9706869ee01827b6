// The portal's mails to who signs up, or changes how they sign in, in plain text; composed and sent in the background, so that response times don't reveal which
// accounts exist.
import type { Mail, Mailer } from "../../commands/mail/mailer.ts";
import { textMail } from "../../commands/mail/people-mails.ts";
import type { Logger } from "../../runtime/logging.ts";

export const SIGN_UP_LINK_HOURS = 24;
export const RESET_LINK_MINUTES = 60;
export const EMAIL_LINK_HOURS = 24;

/** Subject and paragraphs. `link`: the mailed link; where there is none, the service's own origin. */
const TEXTS = {
  signUp: (link: string) => [
    "Finish your Linkledger account",
    "Welcome to Linkledger. Follow this link to choose a password and finish your account:",
    link,
    `It works for ${SIGN_UP_LINK_HOURS} hours. If you didn't ask for an account, there is nothing to do.`,
  ],
  alreadyThere: (baseUrl: string) => [
    "You have a Linkledger account already",
    "Somebody, most likely you, asked for a new account with this address. There is one already: sign in here.",
    `${baseUrl}/portal/sign-in`,
    `Lost the password? ${baseUrl}/portal/reset`,
  ],
  reset: (link: string) => [
    "Choose a new Linkledger password",
    "Follow this link to choose a new password:",
    link,
    `It works once, for ${RESET_LINK_MINUTES} minutes. If you didn't ask for it, there is nothing to do: your password stays as it is.`,
  ],
  newAddress: (link: string) => [
    "Confirm your new e-mail address",
    "Follow this link to use this address for your Linkledger account from now on:",
    link,
    `It works for ${EMAIL_LINK_HOURS} hours. If you didn't ask for it, there is nothing to do.`,
  ],
  addressChanged: (baseUrl: string) => [
    "Your Linkledger e-mail address was changed",
    "Your account has another e-mail address now; this one no longer signs in.",
    `If that wasn't you, ask the operator of ${baseUrl} for help at once.`,
  ],
};

export function mail(name: keyof typeof TEXTS, to: string, link: string): Mail {
  return textMail(to, TEXTS[name](link));
}

/** Runs in the background; errors are logged. `compose`: undefined when there is no recipient. */
export function sendMail(
  deps: { mailer: Mailer; log: Logger },
  compose: () => Promise<Mail | undefined>,
): void {
  const sending = async () => {
    const composed = await compose();
    if (composed) await deps.mailer.send(composed);
  };
  sending().catch((err: unknown) => deps.log.error({ err }, "a mail was not sent"));
}
