// Manual billing: a request for the Developer plan is stored as a secret until the operator changes the tier, which settles it.
import { UPGRADE_REQUESTS, upgradeRequestSecret } from "../commands/credentials/account-secrets.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Secrets } from "../secrets/port.ts";
import type { Billing } from "./port.ts";

type Deps = { secrets: Secrets; clock: () => Date };

export function manualBilling(deps: Deps & { log: Logger }): Billing {
  const { secrets, clock, log } = deps;
  return {
    async requestUpgrade(accountId) {
      const wanted = { at: clock().toISOString() };
      const kept = await secrets.putIfAbsent(upgradeRequestSecret(accountId), { value: wanted }, clock());
      const { at } = kept as { at: string };
      if (at === wanted.at)
        log.info(
          { accountId },
          "an account requested the Developer plan: see /admin/accounts or `account upgrades`",
        );
    },
    async waitingSince(accountId) {
      const found = await secrets.get(upgradeRequestSecret(accountId), clock());
      return (found as { at: string } | undefined)?.at;
    },
    withdraw: (accountId) => secrets.delete(upgradeRequestSecret(accountId)),
  };
}

/** Pending upgrade requests, oldest first. */
export async function upgradeRequests({
  secrets,
  clock,
}: Deps): Promise<{ accountId: string; at: string }[]> {
  const found = await secrets.list(UPGRADE_REQUESTS, clock());
  return found
    .map(({ key, value }) => ({
      accountId: key.slice(UPGRADE_REQUESTS.length),
      at: (value as { at: string }).at,
    }))
    .sort((a, b) => a.at.localeCompare(b.at));
}
