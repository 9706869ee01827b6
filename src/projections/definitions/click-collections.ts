// The collections that clicks are folded into.
import type { CollectionSpec } from "../../stores/read-store/port.ts";
import { clickHours } from "./click-hours.ts";
import { clickTables } from "./click-tables/chunk.ts";
import { linkTotals } from "./link-totals.ts";
import { accountDays } from "./summaries/account-day.ts";
import { linkDays } from "./summaries/day.ts";
import { linkLife } from "./summaries/link-life.ts";
import { openDays } from "./summaries/open-days.ts";
import { quietLinks } from "./summaries/quiet-links.ts";

/** In the order in which a commit writes them: a day is listed as open before it has a row. */
export const CLICK_COLLECTIONS: readonly CollectionSpec[] = [
  openDays,
  clickTables,
  linkTotals,
  clickHours,
  linkDays,
  quietLinks,
  accountDays,
  linkLife,
];
