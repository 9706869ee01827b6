// Decider of the withdrawals of one link's clicks. Pure: time, id and the counted clicks are inputs.
import type { EventOf, LinkClicked, WithdrawalEvent } from "../../events/catalogue.ts";
import { type ClickKind, STREAM_LIMITS } from "../../events/vocabulary.ts";
import type { WithdrawnSelection } from "../../events/withdrawals.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { Refused } from "../refusals.ts";

type Withdrawn = EventOf<"ClicksWithdrawn">["data"];

/**
 * `inForce`: the ids of the withdrawals while which was counted; all but `matched` are of the clicks that these don't take.
 * `days`: YYYY-MM-DD, UTC. `samples`: the latest first.
 */
export type MatchingClicks = {
  upTo: Position;
  inForce: readonly string[];
  matched: number;
  counted: number;
  kinds: Record<ClickKind, number>;
  days: Record<string, number>;
  samples: LinkClicked["data"][];
};

/** Reads the clicks from the log, where reading the log delays nobody. */
export type FindMatching = (
  address: { host: string; slug: string },
  selection: WithdrawnSelection,
) => Promise<MatchingClicks>;

/** A withdrawal that was made; `restoredAt`: when it was taken back, null while it is in force. */
export type MadeWithdrawal = Omit<Withdrawn, "host" | "slug" | "accountId"> & { restoredAt: string | null };

/** Oldest first. */
export type WithdrawalsState = { withdrawals: readonly MadeWithdrawal[] };

export const noWithdrawals: WithdrawalsState = { withdrawals: [] };

/** @throws withdrawals_changed, nothing_to_withdraw, history_full */
export function withdraw(
  state: WithdrawalsState,
  withdrawal: Omit<Withdrawn, "upTo" | "clicks">,
  { upTo, matched, counted, kinds, inForce }: Omit<MatchingClicks, "days" | "samples">,
): WithdrawalEvent[] {
  const ids = state.withdrawals
    .filter(({ restoredAt }) => restoredAt === null)
    .map((withdrawal) => withdrawal.withdrawalId);
  if (ids.join() !== inForce.join()) throw new Refused("withdrawals_changed");
  if (counted === 0)
    throw new Refused(
      "nothing_to_withdraw",
      matched === 0
        ? "No click of this link is named by that"
        : `All ${matched} clicks that this names are withdrawn already`,
    );
  if (state.withdrawals.length >= STREAM_LIMITS.withdrawalsMade)
    throw new Refused(
      "history_full",
      `Clicks of this link have been withdrawn ${STREAM_LIMITS.withdrawalsMade} times, as often as they can be: withdrawals can still be taken back`,
    );
  return [{ type: "ClicksWithdrawn", data: { ...withdrawal, upTo, clicks: kinds } }];
}

/** @throws withdrawal_not_found, already_restored */
export function restore(
  { withdrawals }: WithdrawalsState,
  restored: EventOf<"ClicksRestored">["data"],
): WithdrawalEvent[] {
  const withdrawal = withdrawals.find(({ withdrawalId }) => withdrawalId === restored.withdrawalId);
  if (!withdrawal) throw new Refused("withdrawal_not_found");
  if (withdrawal.restoredAt !== null)
    throw new Refused("already_restored", `This withdrawal was taken back at ${withdrawal.restoredAt}`);
  return [{ type: "ClicksRestored", data: restored }];
}

export function evolve({ withdrawals }: WithdrawalsState, event: WithdrawalEvent): WithdrawalsState {
  if (event.type === "ClicksWithdrawn") {
    const { host: _, slug: __, accountId: ___, ...made } = event.data;
    return { withdrawals: [...withdrawals, { ...made, restoredAt: null }] };
  }
  const { withdrawalId, at } = event.data;
  return {
    withdrawals: withdrawals.map((withdrawal) =>
      withdrawal.withdrawalId === withdrawalId ? { ...withdrawal, restoredAt: at } : withdrawal,
    ),
  };
}
