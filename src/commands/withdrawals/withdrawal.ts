// Decider of the withdrawals of one link's clicks. Pure: time, id and the counted clicks are inputs.
import type { Position } from "../../event-store/port.ts";
import type { EventOf, WithdrawalEvent } from "../../events/catalogue.ts";
import { type ClickKind, STREAM_LIMITS } from "../../events/vocabulary.ts";
import { HistoryFull } from "../errors.ts";
import {
  AlreadyRestored,
  NothingToWithdraw,
  WithdrawalNotFound,
  WithdrawalsChanged,
} from "./withdrawal-errors.ts";

type Withdrawn = EventOf<"ClicksWithdrawn">["data"];

/** A withdrawal that was made; `restoredAt`: when it was taken back, null while it is in force. */
export type MadeWithdrawal = Omit<Withdrawn, "host" | "slug" | "accountId"> & { restoredAt: string | null };

/** Oldest first. */
export type WithdrawalsState = { withdrawals: readonly MadeWithdrawal[] };

export const noWithdrawals: WithdrawalsState = { withdrawals: [] };

/**
 * The clicks up to a position that a selection names, as counted while `inForce` withdrawals were; `counted`: those not
 * yet withdrawn, `kinds`: by kind.
 */
export type MatchedClicks = {
  upTo: Position;
  matched: number;
  counted: number;
  kinds: Record<ClickKind, number>;
  inForce: readonly string[];
};

/** @throws WithdrawalsChanged, NothingToWithdraw, HistoryFull */
export function withdraw(
  state: WithdrawalsState,
  c: { withdrawal: Omit<Withdrawn, "upTo" | "clicks">; matched: MatchedClicks },
): WithdrawalEvent[] {
  const { upTo, matched, counted, kinds, inForce } = c.matched;
  if (inForceIn(state).join() !== inForce.join()) throw new WithdrawalsChanged();
  if (counted === 0) throw new NothingToWithdraw(matched);
  if (state.withdrawals.length >= STREAM_LIMITS.withdrawalsMade)
    throw new HistoryFull(
      `Clicks of this link have been withdrawn ${STREAM_LIMITS.withdrawalsMade} times, as often as they can be`,
      "withdrawals can still be taken back",
    );
  return [{ type: "ClicksWithdrawn", data: { ...c.withdrawal, upTo, clicks: kinds } }];
}

/** @throws WithdrawalNotFound, AlreadyRestored */
export function restore(
  { withdrawals }: WithdrawalsState,
  restored: EventOf<"ClicksRestored">["data"],
): WithdrawalEvent[] {
  const made = withdrawals.find(({ withdrawalId }) => withdrawalId === restored.withdrawalId);
  if (!made) throw new WithdrawalNotFound();
  if (made.restoredAt !== null) throw new AlreadyRestored(made.restoredAt);
  return [{ type: "ClicksRestored", data: restored }];
}

export function evolve({ withdrawals }: WithdrawalsState, event: WithdrawalEvent): WithdrawalsState {
  if (event.type === "ClicksWithdrawn") {
    const { host: _, slug: __, accountId: ___, ...made } = event.data;
    return { withdrawals: [...withdrawals, { ...made, restoredAt: null }] };
  }
  const { withdrawalId, at } = event.data;
  return {
    withdrawals: withdrawals.map((one) =>
      one.withdrawalId === withdrawalId ? { ...one, restoredAt: at } : one,
    ),
  };
}

/** Ids, in the order in which they were made. */
function inForceIn({ withdrawals }: WithdrawalsState): string[] {
  return withdrawals.flatMap(({ withdrawalId, restoredAt }) => (restoredAt === null ? [withdrawalId] : []));
}
