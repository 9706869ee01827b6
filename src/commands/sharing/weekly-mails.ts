// Weekly mails of an account's numbers to its owner: begun, and stopped in the portal or by a signed link in a mail, without
// signing in.
import { createHmac, timingSafeEqual } from "node:crypto";
import { derivedKey } from "../../stores/secrets/derived-key.ts";
import { accountCommand, changeAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { beginMail, stopMail } from "./decide-sharing.ts";
import { acceptSharedName, plainFilters, type SharedFilters } from "./shared-pages.ts";

export type MailOf = { accountId: string; mailId: string };

/** @throws invalid_request, account_not_found, tier_required, sharing_limit_reached, history_full */
export async function beginWeeklyMail(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  request: { name: string; filters: SharedFilters },
): Promise<Appended> {
  const mailId = deps.newId();
  const mail = { mailId, name: acceptSharedName(request.name), filters: plainFilters(request.filters) };
  return await changeAccount(deps, context, accountId, (account, at) => beginMail(account, { ...mail, at }));
}

/** By the owner, who is signed in. @throws account_not_found, weekly_mail_not_found */
export const stopWeeklyMail = accountCommand((account, { at }, mailId: string) =>
  stopMail(account, { mailId, by: "owner", at }),
);

/** By whoever has a mail. @throws account_not_found, weekly_mail_not_found */
export const stopByMail = accountCommand((account, { at }, mailId: string) =>
  stopMail(account, { mailId, by: "mail", at }),
);

export type StopLinks = {
  /** Path of the page that stops the mail. */
  path(mail: MailOf): string;
  /** Undefined for a token that isn't ours. */
  read(token: string): MailOf | undefined;
};

const TOKEN = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/** `secretKeys`: SECRET_KEY, by which links are signed, and those before it, as mails are kept for long. */
export function stopLinks(secretKeys: readonly string[]): StopLinks {
  const keys = secretKeys.map((secretKey) => derivedKey(secretKey, "linkledger: ends of weekly mails"));
  const signed = (key: Buffer, { accountId, mailId }: MailOf) =>
    createHmac("sha256", key).update(`${accountId}.${mailId}`).digest("base64url");
  return {
    path: (mail) =>
      `/mails/stop/${mail.accountId}.${mail.mailId}.${signed(keys[0] ?? Buffer.alloc(0), mail)}`,
    read(token) {
      const [, accountId = "", mailId = "", signature = ""] = TOKEN.exec(token) ?? [];
      const mail = { accountId, mailId };
      const isOurs = (key: Buffer) => timingSafeEqual(Buffer.from(signature), Buffer.from(signed(key, mail)));
      return signature !== "" && keys.some(isOurs) ? mail : undefined;
    },
  };
}
