// How many clicks the documents hold so far.
import type { Backend } from "../../src/backend.ts";
import { accountDays, type DayDocument, dayOf, hitsOf } from "../../src/projections/definitions/days/days.ts";
import { allDocuments } from "../../src/read-store/document-pages.ts";

const PAGE = 100;

/** Of the account that all links of a benchmark belong to. */
export async function clicksFolded(
  { readStore }: Pick<Backend, "readStore">,
  accountId: string,
): Promise<number> {
  const range = { field: "_id", from: dayOf(accountId, ""), to: `${dayOf(accountId, "")}~` };
  const days = await allDocuments<DayDocument>(readStore, accountDays.collection.name, {
    range,
    limit: PAGE,
  });
  return days.reduce((sum, day) => sum + hitsOf(day), 0);
}
