// Takes clicks of a link out of all numbers, such as test clicks or fraud, shows what would go, and takes it back.
import ipaddr from "ipaddr.js";
import type { WithdrawalEvent } from "../../events/catalogue.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import type { WithdrawnSelection } from "../../events/withdrawals.ts";
import { networkOf } from "../../runtime/addresses/networks.ts";
import { acceptReason, boundedText } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { existing } from "../links/link.ts";
import { currentLink, type LinkAddress } from "../links/link-stream.ts";
import { Refused } from "../refusals.ts";
import {
  evolve,
  type FindMatching,
  type MadeWithdrawal,
  type MatchingClicks,
  noWithdrawals,
  restore,
  type WithdrawalsState,
  withdraw,
} from "./withdrawal.ts";

type ChangedClicks = Appended & { withdrawalId: string };

export type WithdrawalPreview = { selection: WithdrawnSelection; clicks: MatchingClicks };

type WithdrawDeps = CommandDeps & { matchingClicks: FindMatching };

/** @throws link_not_found, invalid_withdrawal */
export async function previewWithdrawal(
  deps: Pick<WithdrawDeps, "eventStore" | "clock" | "matchingClicks">,
  address: LinkAddress,
  request: WithdrawalRequest,
): Promise<WithdrawalPreview> {
  const { createdAt } = existing(await currentLink(deps.eventStore, address));
  const selection = selectionOf(request, createdAt, deps.clock());
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
  const { accountId } = existing(await currentLink(deps.eventStore, address));
  const { selection, clicks } = await previewWithdrawal(deps, address, request);
  const withdrawalId = deps.newId();
  const of = { ...address, accountId, at: deps.clock().toISOString() };
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

/** `from`: by default when the link was made. `to`: by default now. `ipPrefix`: a network, or an address for the network that the log knows of it. */
export type WithdrawalRequest = {
  from?: Date | undefined;
  to?: Date | undefined;
  visitor?: string | undefined;
  ipPrefix?: string | undefined;
  userAgent?: string | undefined;
};

/** What the log keeps of addresses. */
const MOST_BITS = { ipv4: 24, ipv6: 48, "6to4": 40 } as const;
const MOST_CHARACTERS = 512;

/** `createdAt`: of the link, ISO 8601. @throws invalid_withdrawal */
export function selectionOf(request: WithdrawalRequest, createdAt: string, now: Date): WithdrawnSelection {
  const { from = new Date(createdAt), to = now, visitor, ipPrefix } = request;
  // Cleaned as those of clicks are, so that it is found in them.
  const userAgent =
    request.userAgent === undefined ? undefined : boundedText(request.userAgent, MOST_CHARACTERS);
  if (from >= to) throw invalid("The time from which clicks are withdrawn must be before its end");
  if (visitor !== undefined && !/^[0-9a-f]{16}$/.test(visitor))
    throw invalid("A visitor code has 16 hex digits, as exports show it");
  if (userAgent === "") throw invalid(`A part of the user agent has 1 to ${MOST_CHARACTERS} characters`);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    ...(visitor !== undefined && { visitor }),
    ...(ipPrefix !== undefined && { ipPrefix: keptNetworkOf(ipPrefix) }),
    ...(userAgent !== undefined && { userAgent }),
  };
}

/** In CIDR form; whole addresses go no further than this, as the log has none. */
function keptNetworkOf(text: string): string {
  const [address = "", bits] = text.trim().split("/");
  if (networkOf(text.trim()) === undefined)
    throw invalid("A network is such as 203.0.113.0/24 or 2001:db8::/32");
  const parsed = ipaddr.parse(address);
  const most = MOST_BITS[parsed.range() === "6to4" ? "6to4" : parsed.kind()];
  if (Number(bits ?? most) > most)
    throw invalid(`Clicks are known by networks of /${most} at most, not by narrower ones`);
  return networkOf(`${address}/${bits ?? most}`) as string;
}

function invalid(message: string): Refused {
  return new Refused("invalid_withdrawal", message);
}
