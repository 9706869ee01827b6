// How many changes an account may make in the portal in an hour: as many as a key may make requests (interface, part 8),
// so that the portal is no way around the API's limit, and no loop over its forms makes an endless stream.
import type { FastifyRequest } from "fastify";
import { RateLimitExceeded } from "../../api/errors.ts";
import type { Api } from "../../api/fastify.ts";
import type { RateLimits } from "../../api/limits/rate-limit.ts";
import { STREAM_LIMITS, TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";

/** Keys can be deactivated at any time (interface, part 5): as often in an hour as an account can ever have keys. */
const DEACTIVATE_KEY = "/portal/keys/:keyId/deactivate";

/** What is limited in another way, or adds nothing to any stream. Every other form of the portal is a change. */
const NO_CHANGES = new Set([
  // Set or take away a cookie, or end sessions.
  "/portal/theme",
  "/portal/sign-out",
  "/portal/account/sessions/:sessionId/end",
  "/portal/account/sessions/end-all",
  // Count each try at the password: who is being robbed must get this far.
  "/portal/account/password",
  "/portal/account/close",
  // Need no session, and count by address or mail.
  "/portal/sign-in",
  "/portal/sign-up",
  "/portal/sign-up/finish",
  "/portal/reset",
  "/portal/reset/choose",
  "/portal/account/email/confirm",
]);

export class TooManyChanges extends RateLimitExceeded {
  constructor(tier: Tier, retryAfter: number) {
    const { requestsPerHour } = TIER_LIMITS[tier];
    super(requestsPerHour, retryAfter);
    const { developer } = TIER_LIMITS;
    const more =
      tier === "free" ? `, or with the Developer plan, which allows ${developer.requestsPerHour}` : "";
    this.message = `You have made ${requestsPerHour} changes within an hour, as many as your plan allows: go on in ${Math.ceil(retryAfter / 60)} minutes${more}.`;
  }
}

/** Put on after the check of the form's token, so that forms of other sites use nothing up. */
export function limitChanges(site: Api, deps: { rateLimits: RateLimits; clock: () => Date }): void {
  site.addHook("preValidation", async (request) => {
    const { session } = request.visit;
    if (!session || !isChange(request)) return;
    const { accountId, tier } = session;
    const isDeactivation = request.routeOptions.url === DEACTIVATE_KEY;
    const subject = isDeactivation ? `key-deactivations ${accountId}` : `portal-changes ${accountId}`;
    const limit = isDeactivation ? STREAM_LIMITS.keysIssued : TIER_LIMITS[tier].requestsPerHour;
    const now = deps.clock();
    const window = await deps.rateLimits.take(subject, limit, now);
    if (window.granted) return;
    throw new TooManyChanges(tier, Math.max(1, Math.ceil((window.resetAt - now.getTime()) / 1000)));
  });
}

function isChange({ method, routeOptions }: FastifyRequest): boolean {
  return method !== "GET" && method !== "HEAD" && !NO_CHANGES.has(routeOptions.url ?? "");
}
