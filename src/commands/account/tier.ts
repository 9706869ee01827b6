// Moves an account to another tier (interface, part 1), which its owner asks for and the operator decides; its keys, domains
// and webhooks stay as they are.

import type { Tier } from "../../events/vocabulary.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { changeTierTo } from "./account.ts";
import { changeAccount, writeForOpenAccount } from "./account-stream.ts";
import { UPGRADE_REQUESTS, upgradeRequestSecret } from "./secrets.ts";

type Deps = { secrets: Secrets; clock: () => Date };

/** `at`: ISO 8601 UTC. */
type Asked = { at: string };

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

/** For the Developer plan. False when it is asked for already: then that keeps its time. @throws account_not_found */
export async function requestUpgrade(
  deps: Deps & { eventStore: EventStore },
  accountId: string,
): Promise<boolean> {
  const wanted: Asked = { at: deps.clock().toISOString() };
  const ask = () =>
    deps.secrets.putIfAbsent(upgradeRequestSecret(accountId), { value: wanted }, deps.clock());
  const kept = await writeForOpenAccount(deps, accountId, ask, () => withdrawUpgrade(deps, accountId));
  return (kept as Asked).at === wanted.at;
}

/** When the pending request was made, ISO 8601; undefined when there is none. */
export async function upgradeRequestedAt(
  { secrets, clock }: Deps,
  accountId: string,
): Promise<string | undefined> {
  return ((await secrets.get(upgradeRequestSecret(accountId), clock())) as Asked | undefined)?.at;
}

export async function withdrawUpgrade(
  { secrets }: { secrets: Pick<Secrets, "delete"> },
  accountId: string,
): Promise<void> {
  await secrets.delete(upgradeRequestSecret(accountId));
}

/** Pending requests, oldest first. */
export async function upgradeRequests({ secrets, clock }: Deps): Promise<(Asked & { accountId: string })[]> {
  const requests = await secrets.list(UPGRADE_REQUESTS, clock());
  return requests
    .map(({ key, value }) => ({ accountId: key.slice(UPGRADE_REQUESTS.length), at: (value as Asked).at }))
    .sort((a, b) => a.at.localeCompare(b.at));
}
