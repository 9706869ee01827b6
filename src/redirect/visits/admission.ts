// Lets the visits of a link with a password or a limit of clicks in, or not, and counts those that are let in.
import type { AskedVisit, PasswordGate } from "../password/password-gate.ts";
import type { ClickLimit } from "./click-limit.ts";

/** `key`: `<host>/<slug>`. */
export type GuardedLink = { key: string; maxClicks?: number | undefined; passwordId?: string | undefined };

/** `isPerson`: others are let in while people are, and count for nothing. */
export type GuardedVisit = AskedVisit & { readonly isPerson: boolean };

/** `answered`: by the page that asks for the password. */
export type Admission = "let in" | "exhausted" | "answered";

export type Admit = (
  link: GuardedLink,
  visit: GuardedVisit,
  record: () => Promise<void>,
) => Promise<Admission>;

/**
 * Asks nobody for the password of a link that leads nowhere any more, and counts only who has given it. `record`: of the
 * click, once it is let in; where that fails the visit counts for nothing, as the visitor is told to try again.
 * @throws StoreUnavailable, too_busy, and what `record` throws: never let in then
 */
export function admission({ limit, gate }: { limit: ClickLimit; gate: PasswordGate }): Admit {
  return async ({ key, maxClicks, passwordId }, visit, record) => {
    if (maxClicks !== undefined && (await limit.isReached(key, maxClicks))) return "exhausted";
    if (passwordId !== undefined && !(await gate({ link: key, passwordId }, visit))) return "answered";
    if (maxClicks === undefined || !visit.isPerson) {
      await record();
      return "let in";
    }
    if (!(await limit.take(key, maxClicks))) return "exhausted";
    await record().catch(async (error: unknown) => {
      await limit.giveBack(key, maxClicks);
      throw error;
    });
    return "let in";
  };
}
