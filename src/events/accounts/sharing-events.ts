// Events of `account-<uuid>` by which an owner shows numbers to others: pages to share, and weekly mails.
import { z } from "zod";
import { eventType } from "../definition.ts";

/** The breakdowns that a shared page may have; what all clicks of the view are over time it always has. */
export const SHARED_CARDS = ["links", "places", "sources", "devices", "times"] as const;
export type SharedCard = (typeof SHARED_CARDS)[number];

/** Each up to now; `custom`: whole days. */
export const SHARED_RANGES = ["24h", "today", "7d", "30d", "90d", "12mo", "custom"] as const;

const ofAccount = {
  accountId: z.uuid().describe("The account"),
  at: z.iso.datetime().describe("When it happened"),
};
const ofPage = { ...ofAccount, pageId: z.uuid().describe("The page, which is not its address") };
const ofMail = { ...ofAccount, mailId: z.uuid().describe("The mail") };
const date = z.iso.date();
const name = z.string().describe("As typed by the owner");
const filters = z
  .record(z.string(), z.array(z.string()).min(1))
  .describe("Only clicks with one of these values of each field, such as `tag`; empty: all clicks");

export const sharingEvents = {
  SharedPageMade: eventType(
    "A page of numbers was made, for whoever has its address.",
    {
      ...ofPage,
      name,
      filters,
      range: z.enum(SHARED_RANGES).describe("The time that it shows; `custom`: the days `from` to `to`"),
      from: date.optional(),
      to: date.optional(),
      timeZone: z.string().describe("IANA name"),
      cards: z.array(z.enum(SHARED_CARDS)).describe("The breakdowns that it shows"),
      passwordId: z.uuid().optional().describe("Present where it asks for a password"),
      endsAt: z.iso.datetime().optional().describe("From then on it isn't shown; absent: until it is ended"),
      /** SHA-256 of the token in its address, hex. */
      tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
    },
    { internal: ["tokenHash"] },
  ),
  SharedPageEnded: eventType("A shared page was ended for good.", ofPage),
  WeeklyMailBegun: eventType("A weekly mail of numbers to the account's owner was begun.", {
    ...ofMail,
    name,
    filters,
  }),
  WeeklyMailStopped: eventType("A weekly mail was stopped.", {
    ...ofMail,
    by: z.enum(["owner", "mail"]).describe("In the portal, or by the link in a mail"),
  }),
};
