// Rate limit of an account's changes in the portal: as many an hour as its tier allows requests per key (interface,
// part 8), so that scripted forms can't bypass the API's limit or grow a stream without bound.
import type { FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { type RateLimits, secondsUntilReset } from "../../api/limits/rate-limit.ts";
import { STREAM_LIMITS, TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import { Refused } from "../../runtime/refused.ts";
import type { SignedIn } from "./sessions.ts";

/**
 * Has a limit of its own, as high as the number of keys an account can have: keys can be deactivated at any time
 * (interface, part 5).
 */
const DEACTIVATE_KEY = "/portal/keys/:keyId/deactivate";

/** Forms that append no events or have another limit. Every other form counts as a change. */
const NO_CHANGES = new Set([
  // Only set cookies or end sessions.
  "/portal/theme",
  "/portal/sign-out",
  "/portal/account/sessions/:sessionId/end",
  "/portal/account/sessions/end-all",
  // Limited by password attempts, and must stay possible while an attacker uses up the limit of changes.
  "/portal/account/password",
  "/portal/account/close",
  // Need no session; limited by client address or recipient.
  "/portal/sign-in",
  "/portal/sign-up",
  "/portal/reset",
  "/portal/reset/choose",
  // Need no session; guarded by a mailed token, which can't be guessed.
  "/portal/sign-up/finish",
  "/portal/account/email/confirm",
]);

type Deps = { rateLimits: RateLimits; clock: () => Date };

/** Counts one change. @throws rate_limit_exceeded when as many as the tier allows were counted within the hour */
export async function countChange(
  { rateLimits, clock }: Deps,
  { accountId, tier }: Pick<SignedIn, "accountId" | "tier">,
  subject = `portal-changes ${accountId}`,
  limit: number = TIER_LIMITS[tier].requestsPerHour,
): Promise<void> {
  const now = clock();
  const window = await rateLimits.take(subject, limit, now);
  if (!window.granted) throw tooManyChanges(tier, secondsUntilReset(window, now));
}

/** Must be registered after protect(), so that forms of other sites don't use up the limit. */
export function limitChanges(site: Api, deps: Deps): void {
  site.addHook("preValidation", async (request) => {
    const { session } = request.visit;
    if (!session || !isChange(request)) return;
    if (request.routeOptions.url === DEACTIVATE_KEY)
      return countChange(deps, session, `key-deactivations ${session.accountId}`, STREAM_LIMITS.keysIssued);
    return countChange(deps, session);
  });
}

function isChange({ method, routeOptions }: FastifyRequest): boolean {
  return method !== "GET" && method !== "HEAD" && !NO_CHANGES.has(routeOptions.url ?? "");
}

function tooManyChanges(tier: Tier, retryAfter: number): Refused {
  const { requestsPerHour } = TIER_LIMITS[tier];
  const { developer } = TIER_LIMITS;
  const more =
    tier === "free" ? `, or with the Developer plan, which allows ${developer.requestsPerHour}` : "";
  const minutes = Math.ceil(retryAfter / 60);
  const text = `You have made ${requestsPerHour} changes within an hour, as many as your plan allows: go on in ${minutes} minutes${more}.`;
  return new Refused("rate_limit_exceeded", text, { retryAfter });
}
