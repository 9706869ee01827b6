// Sends weekly mails: on Monday at 8:00 in the account's time zone, each at most once a week. That it is sent is noted before
// it is: a crash in between loses one mail, where the other order would send it twice.

import { loadAccount } from "../../commands/account/account-stream.ts";
import type { Mailer } from "../../commands/mail/mailer.ts";
import { isRefused } from "../../commands/refusals.ts";
import type { StopLinks } from "../../commands/sharing/weekly-mails.ts";
import { CLICK_KINDS, hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { MAIL_GROUPS, MAIL_ROWS, weeklyMail } from "../../portal/shared/weekly-mail.ts";
import { type WeeklyMailDocument, weeklyMails } from "../../projections/definitions/weekly-mails.ts";
import { accountQuestions, clickQuestions } from "../../queries/analytics/click-questions.ts";
import {
  DAY_MS,
  HOUR_MS,
  instantOf,
  type TimeZone,
  timeZone,
  UTC,
} from "../../queries/analytics/time-zone.ts";
import { ownerEmail } from "../../queries/people.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { utcDate } from "../../runtime/moment.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";

type WeeklyMailsDeps = {
  eventStore: EventStore;
  readStore: ReadStore;
  secrets: Secrets;
  mailer: Mailer;
  stopLinks: StopLinks;
  baseUrl: string;
  clock: () => Date;
  newId: () => string;
  log: Pick<BasicLogger, "info" | "warn">;
};

const PAGE = 200;
const SEND_AT_MS = 8 * HOUR_MS;
/** A service that was down for longer leaves the week out. */
const SEND_WITHIN_MS = DAY_MS;
const NOTED_MS = 14 * DAY_MS;
/** After a failure by which the mail server has certainly not taken the mail. */
const AGAIN_AFTER_MS = 30 * 60_000;

/** Returns how many were sent. */
export async function sendWeeklyMails(deps: WeeklyMailsDeps, signal: AbortSignal): Promise<number> {
  let sent = 0;
  const query = { where: { status: "running" }, limit: PAGE } as const;
  for await (const page of documentPages<WeeklyMailDocument>(
    deps.readStore,
    weeklyMails.collection.name,
    query,
  ))
    for (const { _id, accountId } of page) {
      if (signal.aborted) return sent;
      try {
        if (await sendOne(deps, accountId, _id)) sent += 1;
      } catch (err) {
        deps.log.warn({ err, accountId }, "a weekly mail was not sent");
      }
    }
  return sent;
}

/** Whether it was due and is sent. @throws mail_not_sent, what the stores throw */
async function sendOne(deps: WeeklyMailsDeps, accountId: string, mailId: string): Promise<boolean> {
  const { secrets, mailer, stopLinks, baseUrl, eventStore, readStore } = deps;
  const now = deps.clock();
  const account = await loadAccount(eventStore, accountId);
  const mail = account.status === "open" ? account.weeklyMails.get(mailId) : undefined;
  if (account.status !== "open" || !mail || !hasDeveloperFeatures(account.tier)) return false;
  const zone = timeZone(account.timeZone ?? "") ?? UTC;
  const week = dueWeek(zone, now.getTime());
  if (!week || Date.parse(mail.at) >= week.sendAt) return false;
  const to = await ownerEmail(deps, accountId);
  if (to === null) return false;
  const note = `weekly-mail-sent/${mailId}/${week.name}`;
  const mine = deps.newId();
  const noted = { value: mine, expiresAt: new Date(now.getTime() + NOTED_MS).toISOString() };
  if ((await secrets.putIfAbsent(note, noted, now)) !== mine) return false;
  try {
    const ask = accountQuestions(clickQuestions({ eventStore, readStore }), readStore);
    const of = { accountId, filters: mail.filters, from: week.from, to: week.to, now: now.getTime() };
    const how = { groupBy: MAIL_GROUPS, limit: MAIL_ROWS, kinds: CLICK_KINDS, zone: zone.name };
    const answer = await ask({ ...of, ...how, interval: "day", compare: "previous" });
    const stopUrl = baseUrl + stopLinks.path({ accountId, mailId });
    const { name, filters } = mail;
    const about = { to, accountId, name, filters, answer, zone: zone.name };
    await mailer.send(weeklyMail({ ...about, baseUrl, stopUrl }));
    deps.log.info({ accountId, week: week.name }, "sent a weekly mail");
    return true;
  } catch (error) {
    const mayBeTaken = isRefused(error, "mail_not_sent") && error.retryAfter === undefined;
    const until = new Date(now.getTime() + AGAIN_AFTER_MS).toISOString();
    if (!mayBeTaken) await secrets.put(note, { value: mine, expiresAt: until });
    throw error;
  }
}

type Week = { name: string; from: number; to: number; sendAt: number };

/** The week that is over, Monday to Sunday, where its mail is to be sent now. `name`: the date of the Monday after it. */
export function dueWeek(zone: TimeZone, now: number): Week | undefined {
  const local = now + zone.offsetAt(now);
  // 1 January 1970 was a Thursday.
  const weekday = (Math.floor(local / DAY_MS) + 3) % 7;
  const monday = Math.floor(local / DAY_MS) * DAY_MS - weekday * DAY_MS;
  const sendAt = instantOf(zone, monday + SEND_AT_MS, "later");
  if (now < sendAt || now >= sendAt + SEND_WITHIN_MS) return undefined;
  const from = instantOf(zone, monday - 7 * DAY_MS, "start");
  return { name: utcDate(new Date(monday)), from, to: instantOf(zone, monday, "start"), sendAt };
}
