// Moves an account to another tier (interface, part 1), which its owner asks for and the operator decides; its keys, domains
// and webhooks stay as they are.

import type { Tier } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { changeTierTo } from "./account.ts";
import { changeAccount } from "./account-stream.ts";

const UPGRADE_REQUESTS = "upgrade-request/";
const upgradeRequestSecret = (accountId: string) => `${UPGRADE_REQUESTS}${accountId}`;

type Deps = { secrets: Secrets; clock: () => Date };

/** For the Developer plan. `at`: ISO 8601 UTC. */
type UpgradeRequest = { at: string };

/** Settles a request for the Developer plan, too. @throws account_not_found */
export async function changeTier(
  deps: CommandDeps & { secrets: Pick<Secrets, "delete"> },
  context: CommandContext,
  accountId: string,
  tier: Tier,
): Promise<Appended> {
  const changed = await changeAccount(deps, context, accountId, (account, at) =>
    changeTierTo(account, { tier, at }),
  );
  await withdrawUpgrade(deps, accountId);
  return changed;
}

/** By who is signed in to an account that is open. False when it is asked for already: then that keeps its time. */
export async function requestUpgrade({ secrets, clock }: Deps, accountId: string): Promise<boolean> {
  const wanted: UpgradeRequest = { at: clock().toISOString() };
  const stored = await secrets.putIfAbsent(upgradeRequestSecret(accountId), { value: wanted }, clock());
  return (stored as UpgradeRequest).at === wanted.at;
}

/** When the pending request was made, ISO 8601; undefined when there is none. */
export async function upgradeRequestedAt(
  { secrets, clock }: Deps,
  accountId: string,
): Promise<string | undefined> {
  return ((await secrets.get(upgradeRequestSecret(accountId), clock())) as UpgradeRequest | undefined)?.at;
}

export async function withdrawUpgrade(
  { secrets }: { secrets: Pick<Secrets, "delete"> },
  accountId: string,
): Promise<void> {
  await secrets.delete(upgradeRequestSecret(accountId));
}

/** Pending requests, oldest first. */
export async function upgradeRequests({
  secrets,
  clock,
}: Deps): Promise<(UpgradeRequest & { accountId: string })[]> {
  const requests = await secrets.list(UPGRADE_REQUESTS, clock());
  return requests
    .map(({ key, value }) => ({
      accountId: key.slice(UPGRADE_REQUESTS.length),
      at: (value as UpgradeRequest).at,
    }))
    .sort((a, b) => a.at.localeCompare(b.at));
}
