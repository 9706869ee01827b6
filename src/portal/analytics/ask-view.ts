// Asks for the numbers of a page of analytics, and says what is to be changed where they are refused.

import { isRefused } from "../../commands/refusals.ts";
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { acceptFilters } from "../../queries/analytics/filter-values.ts";
import type { AccountAnswer, Filters, GroupBy } from "../../queries/analytics/question.ts";
import { type FindLinkDeps, ownLinkAt } from "../../queries/links/find-link.ts";
import { namedLink } from "../../queries/links/named-link.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import type { AnalyticsView } from "./view-address.ts";

/** `answer`: undefined where the range has errors, or there is too much to be counted. */
type Outcome = { view: AnalyticsView; answer?: AccountAnswer; isTooLarge: boolean };

type Deps = { clock: () => Date; logReader: Pick<LogReader, "askAccount"> };

/** `limit`: of the rows of each group. */
type Wanted = { groupBy: readonly GroupBy[]; limit: number };

/** @throws analytics_busy, what the stores throw */
export async function askView(
  deps: Deps,
  accountId: string,
  view: AnalyticsView,
  { groupBy, limit }: Wanted,
  signal: AbortSignal,
): Promise<Outcome> {
  const { range, filters } = view;
  if (!range.request) return { view, isTooLarge: false };
  const refused = (errors: AnalyticsView["range"]["errors"]) => ({
    view: { ...view, range: { ...range, errors } },
    isTooLarge: false,
  });
  const zone = range.zone.name;
  const now = deps.clock().getTime();
  const question = { accountId, filters, ...range.request, limit, zone, kinds: CLICK_KINDS, now };
  try {
    const answer = await deps.logReader.askAccount({ ...question, groupBy }, signal);
    return { view, answer, isTooLarge: false };
  } catch (error) {
    if (isRefused(error, "range_too_large")) return { view, isTooLarge: true };
    if (!isRefused(error, "invalid_range")) throw error;
    // What is compared with has points of the same length, so that far more of them may be too many.
    if (typeof range.request.compare === "object")
      return refused({ compare_to: "This is far longer than what it is compared with: choose fewer days." });
    // More than 400 points, even by months.
    const field = range.typed.to !== "" && range.includesNow ? "to" : "from";
    return refused({ [field]: "At most 33 years can be shown." });
  }
}

/** @throws invalid_request, invalid_link; not_found also for another account's link */
export function acceptedFilters(deps: FindLinkDeps, accountId: string, filters: Filters): Promise<Filters> {
  return acceptFilters(filters, async (name) => (await linkNamed(deps, accountId, name))._id);
}

/** The one link whose numbers are asked for. @throws invalid_link; not_found also for another account's link */
export async function onlyLink(
  deps: FindLinkDeps,
  accountId: string,
  { link: [name, ...others] = [] }: Filters,
): Promise<LinkDocument | undefined> {
  return name === undefined || others.length > 0 ? undefined : await linkNamed(deps, accountId, name);
}

function linkNamed(deps: FindLinkDeps, accountId: string, name: string): Promise<LinkDocument> {
  return ownLinkAt(deps, accountId, namedLink(name, deps.baseHost));
}
