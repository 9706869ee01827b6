// Reads what a closed day has of a link, by the names that questions read collections by.
import { accountDays } from "../../projections/definitions/summaries/account-day.ts";
import { daysOf, type LinkDayDocument, linkDays } from "../../projections/definitions/summaries/day.ts";
import { quietLinks } from "../../projections/definitions/summaries/quiet-links.ts";
import { type ClosedDay, DayBeingClosed, linkDayOf } from "../../projections/fold/clicks/stored-days.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

const COLLECTIONS = { linkDays: linkDays.name, quietLinks: quietLinks.name };
const DAYS_AT_A_TIME = 100;

/** Undefined for a link without clicks on the day. @throws DayBeingClosed, what the store throws */
export async function closedLinkDay(
  readStore: Pick<ReadStore, "get" | "getMany">,
  day: ClosedDay,
  link: string,
): Promise<LinkDayDocument | undefined> {
  const document = await linkDayOf({ readStore, collections: COLLECTIONS }, day, link);
  if (document && document._position > day._position)
    throw new DayBeingClosed(`${document._id} is being closed`);
  return document;
}

/** Of the account, also those that are open again. @throws what the store throws */
export async function* closedDays(
  readStore: Pick<ReadStore, "find">,
  accountId: string,
  direction: "asc" | "desc" = "asc",
): AsyncGenerator<ClosedDay> {
  const fields = ["accountId", "day", "quietPages"];
  const sort = { field: "_id", direction } as const;
  const search = { range: daysOf(accountId), sort, fields, limit: DAYS_AT_A_TIME };
  for await (const page of documentPages<ClosedDay>(readStore, accountDays.name, search)) yield* page;
}
