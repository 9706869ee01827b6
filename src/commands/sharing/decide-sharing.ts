// Decides on the pages and the weekly mails by which an account shows its numbers. Pure; their state is part of the account's
// (account/account.ts).
import type { AccountEvent } from "../../events/catalogue.ts";
import { STREAM_LIMITS } from "../../events/vocabulary.ts";
import { type AccountState, opened, type SharedPage, type WeeklyMail, withRoom } from "../account/account.ts";
import { requireDeveloper } from "../caller.ts";
import { Refused } from "../refusals.ts";

/** Nothing where it is made already. Pages that are over count until they are ended. @throws account_not_found, tier_required, sharing_limit_reached, history_full */
export function makePage(account: AccountState, page: SharedPage): AccountEvent[] {
  if (opened(account).sharedPages.has(page.pageId)) return [];
  const { accountId, tier, sharedPages } = withRoom(account);
  requireDeveloper(tier, "Shared pages");
  refuseMore("shared pages", sharedPages.size, STREAM_LIMITS.sharedPages);
  return [{ type: "SharedPageMade", data: { accountId, ...page } }];
}

/** @throws account_not_found, shared_page_not_found also for an ended one */
export function endPage(account: AccountState, c: { pageId: string; at: string }): AccountEvent[] {
  const { accountId, sharedPages } = opened(account);
  if (!sharedPages.has(c.pageId)) throw new Refused("shared_page_not_found");
  return [{ type: "SharedPageEnded", data: { accountId, ...c } }];
}

/** @throws account_not_found, tier_required, sharing_limit_reached, history_full */
export function beginMail(account: AccountState, mail: WeeklyMail): AccountEvent[] {
  const { accountId, tier, weeklyMails } = withRoom(account);
  requireDeveloper(tier, "Weekly mails");
  refuseMore("weekly mails", weeklyMails.size, STREAM_LIMITS.weeklyMails);
  return [{ type: "WeeklyMailBegun", data: { accountId, ...mail } }];
}

/** @throws account_not_found, weekly_mail_not_found also for a stopped one */
export function stopMail(
  account: AccountState,
  c: { mailId: string; by: "owner" | "mail"; at: string },
): AccountEvent[] {
  const { accountId, weeklyMails } = opened(account);
  if (!weeklyMails.has(c.mailId)) throw new Refused("weekly_mail_not_found");
  return [{ type: "WeeklyMailStopped", data: { accountId, ...c } }];
}

function refuseMore(what: string, present: number, most: number): void {
  if (present >= most)
    throw new Refused("sharing_limit_reached", `An account has at most ${most} ${what}: end one first`);
}
