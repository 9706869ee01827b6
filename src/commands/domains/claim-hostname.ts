// Claims and releases hostnames: the one stream per hostname that makes its owner unique across accounts.
import { domainStream } from "../../events/streams.ts";
import { loadAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import { type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type Claim, type ClaimState, claim, evolve, release, unclaimed } from "./domain-claim.ts";

export type Claiming = Claim & { hostname: string; at: string };

/** @throws DomainTaken */
export async function claimHostname(deps: CommandDeps, context: CommandContext, c: Claiming): Promise<void> {
  const stale = await staleHolder(deps, c);
  await handleCommand(deps, context, {
    ...folded(c.hostname),
    decide: (state) => claim(state, { ...c, stale }),
  });
}

/** Releases the account's claim unless it has the domain (again). */
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

/** The account that has claimed the hostname. */
export async function holderOf(deps: CommandDeps, hostname: string): Promise<string | undefined> {
  const { state } = await loadStream(deps.eventStore, folded(hostname));
  return state.status === "unclaimed" ? undefined : state.accountId;
}

/** Another account's claim whose domain is gone: its removal stopped before the release. */
async function staleHolder(deps: CommandDeps, c: Claiming): Promise<Claim | undefined> {
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
