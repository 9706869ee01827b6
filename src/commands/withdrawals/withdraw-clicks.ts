// Takes clicks of a link out of all numbers, such as test clicks or fraud, shows what would go, and takes it back.
import type { WithdrawnSelection } from "../../click-log/withdrawals.ts";
import type { Position } from "../../event-store/port.ts";
import type { WithdrawalEvent } from "../../events/catalogue.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import { Refused } from "../../runtime/refused.ts";
import { acceptReason } from "../accept-reason.ts";
import type { CommandContext } from "../caller.ts";
import { type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import type { LinkAddress } from "../links/change-link.ts";
import type { ExistingLink } from "../links/link.ts";
import { currentLink } from "../links/link-stream.ts";
import type { FindMatching, MatchingClicks } from "./matching-clicks.ts";
import {
  evolve,
  type MadeWithdrawal,
  noWithdrawals,
  restore,
  type WithdrawalsState,
  withdraw,
} from "./withdrawal.ts";
import { selectionOf, type WithdrawalRequest } from "./withdrawal-request.ts";

/** `position`: of the event; documents that contain it have the clicks out, or in again. */
export type ChangedClicks = { withdrawalId: string; position: Position | undefined };

export type WithdrawalPreview = { selection: WithdrawnSelection; clicks: MatchingClicks };

export type WithdrawDeps = CommandDeps & { matchingClicks: FindMatching };

/** @throws link_not_found, invalid_withdrawal */
export async function previewWithdrawal(
  deps: Pick<WithdrawDeps, "eventStore" | "clock" | "matchingClicks">,
  address: LinkAddress,
  request: WithdrawalRequest,
): Promise<WithdrawalPreview> {
  await existingLink(deps, address);
  const selection = selectionOf(request, deps.clock());
  return { selection, clicks: await deps.matchingClicks(address, selection) };
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
  const { accountId } = await existingLink(deps, address);
  const { selection, clicks } = await previewWithdrawal(deps, address, request);
  const withdrawalId = deps.newId();
  const of = { ...address, accountId, at: deps.clock().toISOString() };
  const withdrawal = { ...of, ...selection, withdrawalId, reason };
  const position = await append(deps, context, address, (state) =>
    withdraw(state, { withdrawal, matched: clicks }),
  );
  return { withdrawalId, position, selection, clicks };
}

/** @throws link_not_found, withdrawal_not_found, already_restored */
export async function restoreClicks(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  withdrawalId: string,
): Promise<ChangedClicks> {
  const { accountId } = await existingLink(deps, address);
  const restored = { ...address, accountId, at: deps.clock().toISOString(), withdrawalId };
  const position = await append(deps, context, address, (state) => restore(state, restored));
  return { withdrawalId, position };
}

/** All that were made, oldest first. @throws link_not_found */
export async function listWithdrawals(
  deps: Pick<CommandDeps, "eventStore">,
  address: LinkAddress,
): Promise<readonly MadeWithdrawal[]> {
  await existingLink(deps, address);
  return (await loadStream(deps.eventStore, folded(address))).state.withdrawals;
}

async function append(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  decide: (state: WithdrawalsState) => WithdrawalEvent[],
): Promise<Position | undefined> {
  const command = { ...folded(address), decide };
  return (await handleCommand<WithdrawalsState, WithdrawalEvent>(deps, context, command)).position;
}

function folded({ host, slug }: LinkAddress) {
  return { stream: withdrawalStream(linkKey(host, slug)), initial: noWithdrawals, fold: evolve };
}

async function existingLink(
  { eventStore }: Pick<CommandDeps, "eventStore">,
  { host, slug }: LinkAddress,
): Promise<ExistingLink> {
  const link = await currentLink(eventStore, host, slug);
  if (link.status === "free") throw new Refused("link_not_found");
  return link;
}
