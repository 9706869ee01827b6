// The mailer of a process, which loads nodemailer with the first mail, as most processes send none.
import type { Mailer } from "./mailer.ts";

/** Undefined where SMTP_URL is unset. */
export function lazyMailer({
  smtpUrl,
  mailFrom,
}: {
  smtpUrl?: string | undefined;
  mailFrom: string;
}): Mailer | undefined {
  if (smtpUrl === undefined || smtpUrl === "") return undefined;
  let opened: Promise<Mailer> | undefined;
  const open = () => {
    opened ??= import("./mailer.ts").then(({ smtpMailer }) => smtpMailer({ smtpUrl, mailFrom }));
    return opened;
  };
  return {
    send: async (mail) => await (await open()).send(mail),
    close: () => void opened?.then((mailer) => mailer.close()),
  };
}
