// What the collections of one build are called that clicks are folded into.
import type { CollectionSpec } from "../../../stores/read-store/port.ts";
import { clickHours } from "../../definitions/click-hours.ts";
import { clickTables } from "../../definitions/click-tables/chunk.ts";
import { linkTotals } from "../../definitions/link-totals.ts";
import { accountDays } from "../../definitions/summaries/account-day.ts";
import { linkDays } from "../../definitions/summaries/day.ts";
import { linkLife } from "../../definitions/summaries/link-life.ts";
import { openDays } from "../../definitions/summaries/open-days.ts";
import { quietLinks } from "../../definitions/summaries/quiet-links.ts";
import { type Build, collectionName } from "../build.ts";

/** Names of collections. */
export type ClickCollections = {
  openDays: string;
  clickTables: string;
  linkTotals: string;
  clickHours: string;
  linkDays: string;
  quietLinks: string;
  accountDays: string;
  linkLife: string;
};

export function clickCollections(build: Pick<Build, "build">): ClickCollections {
  const named = ({ name }: CollectionSpec) => collectionName(name, build);
  return {
    openDays: named(openDays),
    clickTables: named(clickTables),
    linkTotals: named(linkTotals),
    clickHours: named(clickHours),
    linkDays: named(linkDays),
    quietLinks: named(quietLinks),
    accountDays: named(accountDays),
    linkLife: named(linkLife),
  };
}
