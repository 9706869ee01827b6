// Lets the visits of a link with a password or a limit of clicks in, or not, and counts those that are let in.
import type { AskedVisit, PasswordGate } from "../password/password-gate.ts";
import type { ClickLimit, LimitedLink } from "./click-limit.ts";

/** `key`: `<host>/<slug>`. */
type GuardedLink = { key: string; maxClicks?: number | undefined; passwordId?: string | undefined };

/** `isPerson`: others are let in while people are, and count for nothing; read where the link has a limit. */
export type GuardedVisit = AskedVisit & { readonly isPerson: boolean };

/** `answered`: by the page that asks for the password. */
type Admission = "let in" | "exhausted" | "answered";

export type Admit = (
  link: GuardedLink,
  visit: GuardedVisit,
  record: () => Promise<void>,
) => Promise<Admission>;

/**
 * Asks nobody for the password of a link that leads nowhere any more, and counts only who has given it. `record`:
 * of the click, once it is let in; where that fails the visit counts for nothing, as the visitor is told to try
 * again.
 * @throws StoreUnavailable, too_busy, and what `record` throws: never let in then
 */
export function admission({ limit, gate }: { limit: ClickLimit; gate: PasswordGate }): Admit {
  return async (link, visit, record) => {
    const { key, passwordId } = link;
    if (isLimited(link) && (await limit.isReached(link))) return "exhausted";
    if (passwordId !== undefined && !(await gate({ link: key, passwordId }, visit))) return "answered";
    if (!isLimited(link) || !visit.isPerson) {
      await record();
      return "let in";
    }
    if (!(await limit.take(link))) return "exhausted";
    await record().catch(async (error: unknown) => {
      await limit.giveBack(link);
      throw error;
    });
    return "let in";
  };
}

function isLimited(link: GuardedLink): link is GuardedLink & LimitedLink {
  return link.maxClicks !== undefined;
}
