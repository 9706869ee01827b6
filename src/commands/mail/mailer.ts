// Mails to one recipient, through the operator's SMTP server with nodemailer, which is loaded with the first mail, as most
// processes send none.
import type { Transporter } from "nodemailer";
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

/** `smtpUrl`: smtp://user:password@host:port, or smtps; unset, or empty, there is no mailer. */
export function smtpMailer({
  smtpUrl,
  mailFrom,
}: {
  smtpUrl?: string | undefined;
  mailFrom: string;
}): Mailer | undefined {
  if (smtpUrl === undefined || smtpUrl === "") return undefined;
  let opening: Promise<Transporter> | undefined;
  return {
    async send({ to, subject, text, html, stopUrl }) {
      opening ??= openTransport(smtpUrl);
      const transport = await opening;
      try {
        // As an object, because nodemailer parses a string as a list of addresses.
        await transport.sendMail({
          from: mailFrom,
          to: { name: "", address: to },
          ...{ subject, text },
          ...(html !== undefined && { html }),
          ...(stopUrl !== undefined && { headers: stopHeaders(stopUrl) }),
        });
      } catch (error) {
        throw notSent(error as { code?: string; responseCode?: number; syscall?: string });
      }
    },
    close: () => void opening?.then((transport) => transport.close()),
  };
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const timeouts = {
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  };
  return createTransport({ url, ...timeouts });
}

function notSent({
  code,
  responseCode,
  syscall,
}: {
  code?: string;
  responseCode?: number;
  syscall?: string;
}) {
  const isCertain = responseCode !== undefined || syscall === "connect" || code === "EDNS";
  return new Refused(
    "mail_not_sent",
    `The mail server refused or is unavailable (${[code, responseCode].filter(Boolean).join(" ")})`,
    isCertain ? { retryAfter: RETRY_AFTER_SECONDS } : {},
  );
}

/** RFC 2369, and RFC 8058 for programs that stop it without opening a page. */
function stopHeaders(url: string): Record<string, string> {
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}
