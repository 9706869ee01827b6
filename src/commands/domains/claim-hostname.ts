// Claims and releases hostnames: one stream per hostname makes its owner unique across accounts.
import { domainStream } from "../../events/streams.ts";
import { loadAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import { type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type ClaimState, claim, evolve, type HostnameClaim, release, unclaimed } from "./domain-claim.ts";

type HostnameClaiming = HostnameClaim & { hostname: string; at: string };

/** @throws domain_taken */
export async function claimHostname(
  deps: CommandDeps,
  context: CommandContext,
  c: HostnameClaiming,
): Promise<void> {
  const stale = await staleHolder(deps, c);
  await handleCommand(deps, context, {
    ...folded(c.hostname),
    decide: (state) => claim(state, { ...c, stale }),
  });
}

/** Releases the account's claim, unless the account has (or has again added) the domain. */
export async function releaseHostname(
  deps: CommandDeps,
  context: CommandContext,
  c: { hostname: string; accountId: string; at: string },
): Promise<void> {
  const { state: held } = await loadStream(deps.eventStore, folded(c.hostname));
  if (held.status === "unclaimed" || held.accountId !== c.accountId || (await hasDomain(deps, c))) return;
  const { domainId } = held;
  await handleCommand(deps, context, {
    ...folded(c.hostname),
    decide: (state) => release(state, { ...c, domainId }),
  });
}

/** Id of the account that claims the hostname. */
export async function holderOf(deps: CommandDeps, hostname: string): Promise<string | undefined> {
  const { state } = await loadStream(deps.eventStore, folded(hostname));
  return state.status === "unclaimed" ? undefined : state.accountId;
}

/** Another account's claim without a domain: the removal was interrupted before the release. */
async function staleHolder(deps: CommandDeps, c: HostnameClaiming): Promise<HostnameClaim | undefined> {
  const { state } = await loadStream(deps.eventStore, folded(c.hostname));
  if (state.status === "unclaimed" || state.accountId === c.accountId) return undefined;
  const { accountId, domainId } = state;
  return (await hasDomain(deps, { accountId, hostname: c.hostname })) ? undefined : { accountId, domainId };
}

async function hasDomain(deps: CommandDeps, c: { accountId: string; hostname: string }): Promise<boolean> {
  const account = await loadAccount(deps.eventStore, c.accountId);
  return account.status === "open" && account.domains.has(c.hostname);
}

function folded(hostname: string) {
  const initial: ClaimState = unclaimed;
  return { stream: domainStream(hostname), initial, fold: evolve };
}
