// Claims and releases hostnames: one stream per hostname makes its owner unique across accounts.
import { domainStream } from "../../events/streams.ts";
import { loadAccount } from "../account/accounts.ts";
import type { CommandContext } from "../caller.ts";
import { type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type ClaimState, claim, evolve, type HostnameClaim, release, unclaimed } from "./domain-claim.ts";

/** @throws domain_taken */
export async function claimHostname(
  deps: CommandDeps,
  context: CommandContext,
  c: HostnameClaim & { hostname: string },
): Promise<void> {
  const held = await claimOf(deps, c.hostname);
  // Another account's claim without a domain: the removal was interrupted before the release.
  const stale = held && held.accountId !== c.accountId && !(await hasDomain(deps, held, c.hostname));
  const at = deps.clock().toISOString();
  await handleCommand(deps, context, {
    ...folded(c.hostname),
    decide: (state) => claim(state, { ...c, at, stale: stale ? held : undefined }),
  });
}

/** Releases the account's claim, unless the account has (or has again added) the domain. */
export async function releaseHostname(
  deps: CommandDeps,
  context: CommandContext,
  { hostname, accountId }: { hostname: string; accountId: string },
): Promise<void> {
  const held = await claimOf(deps, hostname);
  if (held?.accountId !== accountId || (await hasDomain(deps, held, hostname))) return;
  const at = deps.clock().toISOString();
  await handleCommand(deps, context, {
    ...folded(hostname),
    decide: (state) => release(state, { ...held, hostname, at }),
  });
}

/** Id of the account that claims the hostname. */
export async function holderOf(deps: CommandDeps, hostname: string): Promise<string | undefined> {
  return (await claimOf(deps, hostname))?.accountId;
}

async function claimOf({ eventStore }: CommandDeps, hostname: string): Promise<HostnameClaim | undefined> {
  const { state } = await loadStream(eventStore, folded(hostname));
  return state.status === "unclaimed" ? undefined : { accountId: state.accountId, domainId: state.domainId };
}

async function hasDomain(
  deps: CommandDeps,
  { accountId }: HostnameClaim,
  hostname: string,
): Promise<boolean> {
  const account = await loadAccount(deps.eventStore, accountId);
  return account.status === "open" && account.domains.has(hostname);
}

function folded(hostname: string) {
  const initial: ClaimState = unclaimed;
  return { stream: domainStream(hostname), initial, fold: evolve };
}
