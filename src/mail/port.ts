// Mail to people: only what they need to get into their account; contract: plain text, one recipient.

export type Mail = { to: string; subject: string; text: string };

export interface Mailer {
  /** Settles when the mail server has taken it. @throws MailNotSent, with nothing in it that belongs to a person */
  send(mail: Mail): Promise<void>;
  close(): void;
}
