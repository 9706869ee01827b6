// What is summed of a link's whole life, and which days of its account are not in it yet.
import { type LinkLifeDocument, linkLife } from "../../projections/definitions/summaries/link-life.ts";
import { openDaysOf } from "../../projections/fold/clicks/stored-tables.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { TableDay, TableReader } from "./counting/table-reader.ts";

/**
 * `life`: of the link's closed days; undefined for none. `open`: the tables of days that are open. `isCurrent`: whether none of them
 * is in `life`, as it was before.
 */
export type OpenLife = {
  accountId: string;
  life: LinkLifeDocument | undefined;
  open: TableDay[];
  isCurrent: boolean;
};

type Deps = { readStore: Pick<ReadStore, "find" | "get">; reader: TableReader };

/** Days that are closed meanwhile are open, and the life is not current. @throws what the store throws */
export async function openLife(
  { readStore, reader }: Deps,
  accountId: string,
  link: string,
): Promise<OpenLife> {
  const days = await openDaysOf(readStore, accountId);
  // After the open days: one that is no longer open is in it.
  const life = await readStore.get<LinkLifeDocument>(linkLife.name, link);
  const own = life?.accountId === accountId ? life : undefined;
  const open: TableDay[] = [];
  for (const day of days) open.push(...(await reader.days(accountId, day, day)));
  return { accountId, life: own, open, isCurrent: days.every((day) => day > (own?.lastDay ?? "")) };
}
