// Mail through the operator's SMTP server, by nodemailer.
import { createTransport } from "nodemailer";
import { DomainError } from "../runtime/errors.ts";
import type { Mailer } from "./port.ts";

/** The server's own words name the recipient, so only its codes are told. */
export class MailNotSent extends DomainError {
  override readonly code = "mail_not_sent";
}

const PATIENCE_MS = 15_000;

/** `smtpUrl`: smtp://user:password@host:port, or smtps. */
export function smtpMailer(config: { smtpUrl: string; mailFrom: string }): Mailer {
  const timeouts = {
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  };
  const transport = createTransport({ url: config.smtpUrl, ...timeouts });
  return {
    async send({ to, subject, text }) {
      try {
        // Not a string: an address list in it would be more than one recipient.
        await transport.sendMail({ from: config.mailFrom, to: { name: "", address: to }, subject, text });
      } catch (error) {
        const { code, responseCode } = error as { code?: string; responseCode?: number };
        throw new MailNotSent(
          `The mail server refused or is away (${[code, responseCode].filter(Boolean).join(" ")})`,
        );
      }
    },
    close: () => transport.close(),
  };
}
