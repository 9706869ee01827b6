// The mails of the portal, plain text to one recipient, through the operator's SMTP server with nodemailer.
import { createTransport } from "nodemailer";
import { Refused } from "../../runtime/refused.ts";

export type Mail = { to: string; subject: string; text: string };

export interface Mailer {
  /** Resolves when the mail server has accepted the mail. @throws mail_not_sent, without personal data in its message */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 15_000;

/** `smtpUrl`: smtp://user:password@host:port, or smtps. */
export function smtpMailer(config: { smtpUrl: string; mailFrom: string }): Mailer {
  const timeouts = {
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  };
  const transport = createTransport({ url: config.smtpUrl, ...timeouts });
  return {
    async send({ to, subject, text }) {
      try {
        // As an object, because nodemailer parses a string as a list of addresses.
        await transport.sendMail({ from: config.mailFrom, to: { name: "", address: to }, subject, text });
      } catch (error) {
        const { code, responseCode } = error as { code?: string; responseCode?: number };
        throw new Refused(
          "mail_not_sent",
          `The mail server refused or is unavailable (${[code, responseCode].filter(Boolean).join(" ")})`,
        );
      }
    },
    close: () => transport.close(),
  };
}
