// Reads what a closed day has of a link, by the names that questions read collections by.
import { accountDays } from "../../projections/definitions/summaries/account-day.ts";
import { type LinkDayDocument, linkDays } from "../../projections/definitions/summaries/day.ts";
import { quietLinks } from "../../projections/definitions/summaries/quiet-links.ts";
import {
  type ClosedDay,
  DayBeingClosed,
  closedDays as daysAsClosed,
  linkDayOf,
} from "../../projections/fold/clicks/stored-days.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

const COLLECTIONS = { accountDays: accountDays.name, linkDays: linkDays.name, quietLinks: quietLinks.name };

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
export function closedDays(
  readStore: Pick<ReadStore, "find">,
  accountId: string,
  direction?: "asc" | "desc",
): AsyncGenerator<ClosedDay> {
  return daysAsClosed({ readStore, collections: COLLECTIONS }, accountId, direction);
}
