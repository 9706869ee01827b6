// Reads what is kept of links on a closed day: their summaries, and of those with few hits the rows, which are summed here.
import { DomainError } from "../../../runtime/errors.ts";
import { documentPages, documentsById } from "../../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { decodeChunk } from "../../definitions/click-tables/decode-chunk.ts";
import { type AccountDayDocument, accountDays } from "../../definitions/summaries/account-day.ts";
import { dayOf, daysOf, type LinkDayDocument, linkDays } from "../../definitions/summaries/day.ts";
import { partRows, placesByLink } from "../../definitions/summaries/day-rows.ts";
import { type QuietPageDocument, quietLinks, quietPageId } from "../../definitions/summaries/quiet-links.ts";
import { sumLinkDay } from "../../definitions/summaries/sum-rows.ts";

export type ClosedDay = Pick<AccountDayDocument, "_id" | "_position" | "accountId" | "day" | "quietPages">;

/** The day is being closed again at this moment. */
export class DayBeingClosed extends DomainError {
  override readonly code = "day_being_closed";
}

const AT_A_TIME = 20;
const DAYS_AT_A_TIME = 100;

/** Of the account, also those that are open again, as they were. @throws what the store throws */
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

/** Those of the links with rows on the day; undefined is a pause. @throws DayBeingClosed, what the store throws */
export async function* linkDaysOf(
  readStore: Pick<ReadStore, "get" | "getMany">,
  day: ClosedDay,
  links: readonly string[],
): AsyncGenerator<LinkDayDocument | undefined, void> {
  const quiet = new Map<string, Set<string>>();
  for (let at = 0; at < links.length; at += AT_A_TIME) {
    const slice = links.slice(at, at + AT_A_TIME);
    const ids = slice.map((link) => dayOf(link, day.day));
    const byId = await documentsById<LinkDayDocument>(readStore, linkDays.name, ids);
    for (const [n, link] of slice.entries()) {
      const document = byId.get(ids[n] as string);
      if (document?.accountId === day.accountId) yield document;
      const page = document ? undefined : quietPageId(day, link);
      if (page !== undefined) quiet.set(page, (quiet.get(page) ?? new Set()).add(link));
    }
    yield;
  }
  for (const [id, wanted] of quiet) {
    const page = await readStore.get<QuietPageDocument>(quietLinks.name, id);
    if (!page) continue;
    if (page._position !== day._position) throw new DayBeingClosed(`${day._id} is being closed`);
    const chunk = decodeChunk(page);
    const rows = [partRows({ chunk, from: 0, to: chunk.rows })];
    for (const [link, places] of yield* placesByLink(rows, 0, wanted))
      yield yield* sumLinkDay(rows, link, places);
    yield;
  }
}

/** Of a link alone; undefined for one without rows. @throws DayBeingClosed, what the store throws */
export async function linkDayOf(
  readStore: Pick<ReadStore, "get" | "getMany">,
  day: ClosedDay,
  link: string,
): Promise<LinkDayDocument | undefined> {
  for await (const document of linkDaysOf(readStore, day, [link])) {
    if (!document) continue;
    if (document._position > day._position) throw new DayBeingClosed(`${document._id} is being closed`);
    return document;
  }
  return undefined;
}
