// Mails to one recipient, through the operator's SMTP server with nodemailer.
import { createTransport } from "nodemailer";
import { Refused } from "../refusals.ts";

/** `html`: of the same words. `stopUrl`: stops mails of its kind, also by a form of RFC 8058. */
export type Mail = { to: string; subject: string; text: string; html?: string; stopUrl?: string };

export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail. @throws mail_not_sent, without personal data in its message; with
   * `retryAfter` where the server has certainly not accepted it
   */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 15_000;
const RETRY_AFTER_SECONDS = 60;

/** `smtpUrl`: smtp://user:password@host:port, or smtps. */
export function smtpMailer(config: { smtpUrl: string; mailFrom: string }): Mailer {
  const timeouts = {
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  };
  const transport = createTransport({ url: config.smtpUrl, ...timeouts });
  return {
    async send({ to, subject, text, html, stopUrl }) {
      try {
        // As an object, because nodemailer parses a string as a list of addresses.
        await transport.sendMail({
          from: config.mailFrom,
          to: { name: "", address: to },
          ...{ subject, text },
          ...(html !== undefined && { html }),
          ...(stopUrl !== undefined && { headers: stopHeaders(stopUrl) }),
        });
      } catch (error) {
        const { code, responseCode, syscall } = error as {
          code?: string;
          responseCode?: number;
          syscall?: string;
        };
        const isCertain = responseCode !== undefined || syscall === "connect" || code === "EDNS";
        throw new Refused(
          "mail_not_sent",
          `The mail server refused or is unavailable (${[code, responseCode].filter(Boolean).join(" ")})`,
          isCertain ? { retryAfter: RETRY_AFTER_SECONDS } : {},
        );
      }
    },
    close: () => transport.close(),
  };
}

/** RFC 2369, and RFC 8058 for programs that stop it without opening a page. */
function stopHeaders(url: string): Record<string, string> {
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}
