// Rate limits of an account in the portal: as many changes, and as many costly reads, an hour as its tier allows requests per
// key (interface, part 8), so that scripts can't bypass the API's limit or grow a stream without bound.

import { Refused } from "../../commands/refusals.ts";
import type { Limits } from "../../events/vocabulary.ts";
import { type CountDeps, countTry, secondsUntilReset } from "../../limits/rate-limit.ts";
import type { SignedIn } from "./sessions.ts";

/** Counts one change. @throws rate_limit_exceeded when as many as the tier allows were counted within the hour */
export async function countChange(
  deps: CountDeps & { limits: Limits },
  session: Pick<SignedIn, "accountId" | "tier">,
): Promise<void> {
  await countWithinPlan(deps, "portal-changes", session, "changes");
}

/** Counts one change of how somebody signs in or is called, whatever account they look at. @throws rate_limit_exceeded */
export async function countPersonChange(
  deps: CountDeps & { limits: Limits },
  { personId }: Pick<SignedIn, "personId">,
): Promise<void> {
  await countTry(deps, `person-changes ${personId}`, deps.limits.free.requestsPerHour);
}

/** Counts a search, an explanation or an export. @throws rate_limit_exceeded */
export async function countRead(
  deps: CountDeps & { limits: Limits },
  session: Pick<SignedIn, "accountId" | "tier">,
): Promise<void> {
  await countWithinPlan(deps, "portal-reads", session, "searches and exports");
}

/** Forms that were shown as typed, and slugs that were looked up. @throws rate_limit_exceeded */
export async function countDraft(deps: CountDeps, { accountId }: Pick<SignedIn, "accountId">): Promise<void> {
  await countTry(deps, `portal-drafts ${accountId}`, DRAFTS_AN_HOUR);
}
const DRAFTS_AN_HOUR = 2_000;

async function countWithinPlan(
  { rateLimits, clock, limits }: CountDeps & { limits: Limits },
  subject: string,
  { accountId, tier }: Pick<SignedIn, "accountId" | "tier">,
  what: string,
): Promise<void> {
  const now = clock();
  const { requestsPerHour } = limits[tier];
  const window = await rateLimits.take(`${subject} ${accountId}`, requestsPerHour, now);
  if (window.granted) return;
  const retryAfter = secondsUntilReset(window, now);
  const more =
    tier === "free" ? `, or with the Developer plan, which allows ${limits.developer.requestsPerHour}` : "";
  const text = `You have made ${requestsPerHour} ${what} within an hour, as many as your plan allows: go on in ${Math.ceil(retryAfter / 60)} minutes${more}.`;
  throw new Refused("rate_limit_exceeded", text, { retryAfter });
}
