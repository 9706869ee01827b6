// Limits wrong passwords of links by the client's address and by link. Right ones count for nothing: a room full
// of people who open a link behind one address are not kept out.
import type { PasswordTries } from "../redirect/password/password-check.ts";
import { byAddress, type CountDeps, refuseTries } from "./rate-limit.ts";

/** Per hour; that of a link is wide, because whoever uses it up keeps out everybody who has no pass yet. */
const WRONG = { address: 60, link: 1_000 } as const;

export function linkPasswordTries({ rateLimits, clock }: CountDeps): PasswordTries {
  const windows = (address: string, link: string) =>
    [
      [byAddress("link-password-address", address), WRONG.address],
      [`link-password-link ${link}`, WRONG.link],
    ] as const;
  return {
    async take(address, link) {
      const now = clock();
      const [ofAddress, ofLink] = windows(address, link);
      refuseTries(await rateLimits.take(...ofAddress, now), now);
      const window = await rateLimits.take(...ofLink, now);
      if (!window.granted) await rateLimits.take(...ofAddress, now, -1);
      refuseTries(window, now);
    },
    async giveBack(address, link) {
      for (const [subject, limit] of windows(address, link))
        await rateLimits.take(subject, limit, clock(), -1);
    },
  };
}
