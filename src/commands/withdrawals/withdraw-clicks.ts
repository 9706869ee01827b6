// Takes clicks of a link out of all numbers, such as test clicks or fraud, shows what would go, and takes it back.
import type { WithdrawalEvent } from "../../events/catalogue.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import type { WithdrawnSelection } from "../../events/withdrawals.ts";
import { acceptReason } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { type ExistingLink, existing } from "../links/link.ts";
import { currentLink, type LinkAddress } from "../links/link-stream.ts";
import { selectionOf, type WithdrawalRequest } from "./accept-selection.ts";
import {
  evolve,
  type FindMatching,
  type MadeWithdrawal,
  type MatchingClicks,
  noWithdrawals,
  restore,
  type WithdrawalsState,
  withdraw,
} from "./decide-withdrawal.ts";

type ChangedClicks = Appended & { withdrawalId: string };

export type WithdrawalPreview = { selection: WithdrawnSelection; clicks: MatchingClicks };

type WithdrawDeps = CommandDeps & { matchingClicks: FindMatching };

/** @throws link_not_found, invalid_withdrawal */
export async function previewWithdrawal(
  deps: Pick<WithdrawDeps, "eventStore" | "clock" | "matchingClicks">,
  address: LinkAddress,
  request: WithdrawalRequest,
): Promise<WithdrawalPreview> {
  return await previewOf(deps, existing(await currentLink(deps.eventStore, address)), request);
}

async function previewOf(
  { clock, matchingClicks }: Pick<WithdrawDeps, "clock" | "matchingClicks">,
  { host, slug, createdAt }: ExistingLink,
  request: WithdrawalRequest,
): Promise<WithdrawalPreview> {
  const selection = selectionOf(request, createdAt, clock());
  return { selection, clicks: await matchingClicks({ host, slug }, selection) };
}

/**
 * For the operator alone. Covers exactly the clicks that are counted for it.
 * @throws link_not_found, invalid_reason, invalid_withdrawal, nothing_to_withdraw, withdrawals_changed, history_full
 */
export async function withdrawClicks(
  deps: WithdrawDeps,
  context: CommandContext,
  address: LinkAddress,
  request: WithdrawalRequest & { reason: string },
): Promise<ChangedClicks & WithdrawalPreview> {
  const reason = acceptReason(request.reason);
  const link = existing(await currentLink(deps.eventStore, address));
  const { selection, clicks } = await previewOf(deps, link, request);
  const withdrawalId = deps.newId();
  const of = { ...address, accountId: link.accountId, at: deps.clock().toISOString() };
  const withdrawal = { ...of, ...selection, withdrawalId, reason };
  const appended = await append(deps, context, address, (state) => withdraw(state, withdrawal, clicks));
  return { withdrawalId, ...appended, selection, clicks };
}

/** @throws link_not_found, withdrawal_not_found, already_restored */
export async function restoreClicks(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  withdrawalId: string,
): Promise<ChangedClicks> {
  const { accountId } = existing(await currentLink(deps.eventStore, address));
  const restored = { ...address, accountId, at: deps.clock().toISOString(), withdrawalId };
  return { withdrawalId, ...(await append(deps, context, address, (state) => restore(state, restored))) };
}

/** All that were made, oldest first. @throws link_not_found */
export async function listWithdrawals(
  deps: Pick<CommandDeps, "eventStore">,
  address: LinkAddress,
): Promise<readonly MadeWithdrawal[]> {
  existing(await currentLink(deps.eventStore, address));
  return (await loadStream(deps.eventStore, folded(address))).state.withdrawals;
}

async function append(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  decide: (state: WithdrawalsState) => WithdrawalEvent[],
): Promise<Appended> {
  const { position } = await handleCommand(deps, context, { ...folded(address), decide });
  return { position };
}

function folded({ host, slug }: LinkAddress) {
  return { stream: withdrawalStream(linkKey(host, slug)), initial: noWithdrawals, fold: evolve };
}
