// Port for the portal's mails: plain text, one recipient.

export type Mail = { to: string; subject: string; text: string };

export interface Mailer {
  /** Resolves when the mail server has accepted the mail. @throws mail_not_sent, without personal data in its message */
  send(mail: Mail): Promise<void>;
  close(): void;
}
