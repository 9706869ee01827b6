// Rechecks the URLs of links that were created while the URL safety check was unavailable.

import type { CommandDeps } from "../../commands/handle-command.ts";
import { safetyOf, type UrlSafety } from "../../commands/links/accept-url.ts";
import { applyLinkChange } from "../../commands/links/change-link.ts";
import { currentLink } from "../../commands/links/link-stream.ts";
import { forgetRecheck, type UrlRecheck, waitingRechecks } from "../../commands/links/url-safety.ts";
import { destinationsOf } from "../../events/link-options.ts";
import { isEventError } from "../../events/read-event.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import type { Secrets } from "../../stores/secrets/port.ts";

type UrlRechecksDeps = CommandDeps & {
  urlSafety: UrlSafety;
  secrets: Secrets;
  log: Pick<BasicLogger, "info" | "warn">;
};

/** The recheck is noted before the append; a link that is not live with this URL after so long will not become so. */
const APPENDED_WITHIN_MS = 10 * 60_000;

/**
 * Stops at the first URL for which the check is still unavailable. Each run begins at a random one, so that a URL for
 * which the check always fails does not block the others. Returns the number of settled rechecks.
 */
export async function recheckWaiting(deps: UrlRechecksDeps, signal: AbortSignal): Promise<number> {
  let settled = 0;
  const waiting = await waitingRechecks(deps);
  const first = Math.floor(deps.random() * waiting.length);
  for (const recheck of [...waiting.slice(first), ...waiting.slice(0, first)]) {
    if (signal.aborted) return settled;
    const safety = await safetyOf(deps, new URL(recheck.longUrl));
    if (safety === "unknown") return settled;
    try {
      if (safety === "unsafe" && !(await disableLink(deps, recheck))) continue;
    } catch (err) {
      if (!isEventError(err)) throw err;
      deps.log.warn({ err, host: recheck.host, slug: recheck.slug }, "an unsafe link can't be disabled");
      continue;
    }
    await forgetRecheck(deps, recheck);
    settled += 1;
  }
  return settled;
}

/**
 * False while the link may still be created, enabled or restored. The actor of the event shows the owner that the
 * service disabled it.
 */
async function disableLink(
  deps: UrlRechecksDeps,
  { host, slug, longUrl, since }: UrlRecheck,
): Promise<boolean> {
  const link = await currentLink(deps.eventStore, { host, slug });
  const isYoung = deps.clock().getTime() - Date.parse(since) < APPENDED_WITHIN_MS;
  if (link.status !== "live" || !destinationsOf(link).includes(longUrl)) return !isYoung;
  const actor = { type: "system", id: "url-check" } as const;
  const context = { requestId: `url-check-${deps.newId()}`, actor };
  await applyLinkChange(deps, context, link.accountId, { host, slug }, { type: "disable" });
  deps.log.warn({ host, slug }, "disabled a link whose address turned out to be unsafe");
  return true;
}
