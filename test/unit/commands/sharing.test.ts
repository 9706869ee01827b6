// How many pages and mails an account has at a time, and that what it has can always be ended.
import { expect, it } from "vitest";
import { evolve, noAccount, open, type SharedPage } from "../../../src/commands/account/account.ts";
import { isRefused } from "../../../src/commands/refusals.ts";
import { beginMail, endPage, makePage, stopMail } from "../../../src/commands/sharing/decide-sharing.ts";
import type { AccountEvent } from "../../../src/events/catalogue.ts";
import { STREAM_LIMITS, type Tier } from "../../../src/events/vocabulary.ts";

const accountId = "7d3f0a52-1c7e-4b0e-9a1f-2f6c1f0f9a11";
const at = "2026-03-01T10:00:00.000Z";
const page = (pageId: string): SharedPage => ({
  ...{ pageId, name: "Sale", filters: {}, range: "30d", timeZone: "UTC", cards: [], tokenHash: pageId, at },
});
const opened = (tier: Tier, events: readonly AccountEvent[] = []) =>
  [...open(noAccount, { accountId, tier, at }), ...events].reduce(evolve, noAccount);
const made = (count: number) =>
  Array.from(
    { length: count },
    (_, n): AccountEvent => ({ type: "SharedPageMade", data: { accountId, ...page(`${n}`) } }),
  );
const begun = (count: number) =>
  Array.from(
    { length: count },
    (_, n): AccountEvent => ({
      type: "WeeklyMailBegun",
      data: { accountId, at, mailId: `${n}`, name: "Sale", filters: {} },
    }),
  );
const codeOf = (decide: () => unknown) => {
  try {
    decide();
    return "done";
  } catch (error) {
    return isRefused(error) ? error.code : "thrown";
  }
};
const mail = { mailId: "new", name: "Sale", filters: {}, at };

it("are for the Developer plan, and bounded at a time", () => {
  expect(codeOf(() => makePage(opened("free"), page("new")))).toBe("tier_required");
  expect(codeOf(() => beginMail(opened("free"), mail))).toBe("tier_required");
  const { sharedPages, weeklyMails } = STREAM_LIMITS;
  expect(codeOf(() => makePage(opened("developer", made(sharedPages - 1)), page("new")))).toBe("done");
  expect(codeOf(() => makePage(opened("developer", made(sharedPages)), page("new")))).toBe(
    "sharing_limit_reached",
  );
  expect(codeOf(() => beginMail(opened("developer", begun(weeklyMails)), mail))).toBe(
    "sharing_limit_reached",
  );
  // Of a request that is repeated.
  expect(makePage(opened("developer", made(sharedPages)), page("0"))).toEqual([]);
});

it("are ended once, on any plan, and by a full history too", () => {
  const tier: AccountEvent = { type: "TierChanged", data: { accountId, from: "developer", to: "free", at } };
  const full = Array.from({ length: STREAM_LIMITS.accountEvents }, () => tier);
  const account = () => opened("developer", [...made(1), ...begun(1), ...full]);
  const [ended, stopped] = [
    endPage(account(), { pageId: "0", at }),
    stopMail(account(), { mailId: "0", by: "mail", at }),
  ];
  expect([ended, stopped].flat().map(({ type }) => type)).toEqual(["SharedPageEnded", "WeeklyMailStopped"]);
  const after = () => [...ended, ...stopped].reduce(evolve, account());
  expect(codeOf(() => endPage(after(), { pageId: "0", at }))).toBe("shared_page_not_found");
  expect(codeOf(() => stopMail(after(), { mailId: "0", by: "owner", at }))).toBe("weekly_mail_not_found");
  expect(codeOf(() => makePage(account(), page("new")))).toBe("history_full");
});
