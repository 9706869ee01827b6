// Asks for the numbers of a page of analytics, and says what is to be changed where they are refused.
import { type CountDeps, countTry } from "../../api/limits/rate-limit.ts";
import { CLICK_KINDS, hasDeveloperFeatures, type Limits } from "../../events/vocabulary.ts";
import type { AccountAnswer, AccountQuestion, GroupBy } from "../../queries/analytics/account/question.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import { isRefused } from "../../runtime/refused.ts";
import type { SignedIn } from "../shell/sessions.ts";
import type { AnalyticsView } from "./view-address.ts";

/** `answer`: undefined where the range has errors, or there is too much to be counted. */
type Outcome = { view: AnalyticsView; answer?: AccountAnswer; isTooLarge: boolean };

type Deps = CountDeps & { limits: Limits; logReader: Pick<LogReader, "askAccount"> };

/** `uncounted`: asked for besides where there are few clicks, or one of them stands open. */
type Wanted = { groupBy: readonly GroupBy[]; uncounted?: readonly GroupBy[]; limit: number };

/** @throws rate_limit_exceeded for too many that are counted click by click; what the stores throw */
export async function askView(
  deps: Deps,
  { accountId, tier }: Pick<SignedIn, "accountId" | "tier">,
  view: AnalyticsView,
  { groupBy, uncounted = [], limit }: Wanted,
): Promise<Outcome> {
  const { range, filters } = view;
  if (!range.request) return { view, isTooLarge: false };
  const refused = (errors: AnalyticsView["range"]["errors"]) => ({
    view: { ...view, range: { ...range, errors } },
    isTooLarge: false,
  });
  const compare =
    hasDeveloperFeatures(tier) && range.request.from !== undefined ? ("previous" as const) : undefined;
  const zone = range.zone.name;
  const now = deps.clock().getTime();
  const question = { accountId, filters, ...range.request, limit, zone, compare, kinds: CLICK_KINDS, now };
  const countRead = () => countTry(deps, `log-reads ${accountId}`, deps.limits[tier].requestsPerHour);
  const isReadAnyway = isNarrowed(filters);
  if (isReadAnyway) await countRead();
  try {
    const first = isReadAnyway ? [...groupBy, ...uncounted] : groupBy;
    const answer = await deps.logReader.askAccount({ ...question, groupBy: first });
    if (isReadAnyway || uncounted.length === 0) return { view, answer, isTooLarge: false };
    const isOpen = uncounted.some((field) => view.open.includes(field));
    if (answer.source === "documents" && !isOpen) return { view, answer, isTooLarge: false };
    if (answer.source === "documents") await countRead();
    const groups = await groupsOrTooLarge(deps, { ...question, groupBy: uncounted });
    const all = { ...answer, groups: { ...answer.groups, ...groups }, source: "log" as const };
    return { view, answer: all, isTooLarge: false };
  } catch (error) {
    if (isRefused(error, "range_too_large")) return { view, isTooLarge: true };
    if (!isRefused(error, "invalid_range")) throw error;
    // More than 400 points, even by months.
    const field = range.typed.to !== "" && range.includesNow ? "to" : "from";
    return refused({ [field]: "At most 33 years can be shown." });
  }
}

/** Whether clicks must be read one by one: those of an account and of one link are counted as they come. */
function isNarrowed({ link = [], ...others }: AnalyticsView["filters"]): boolean {
  return link.length > 1 || Object.keys(others).length > 0;
}

/** Undefined for too many clicks: the other numbers are shown without. */
async function groupsOrTooLarge(
  { logReader }: Deps,
  question: AccountQuestion,
): Promise<AccountAnswer["groups"] | undefined> {
  try {
    return (await logReader.askAccount(question)).groups;
  } catch (error) {
    if (isRefused(error, "range_too_large")) return undefined;
    throw error;
  }
}
