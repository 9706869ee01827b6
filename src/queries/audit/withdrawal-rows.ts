// Withdrawals of clicks, and what one would take out, as pages, JSON and commands show them.

import type { MadeWithdrawal } from "../../commands/withdrawals/decide-withdrawal.ts";
import type { WithdrawalPreview } from "../../commands/withdrawals/withdraw-clicks.ts";
import { type WithdrawnSelection, withdrawnCount } from "../../events/withdrawals.ts";

export type WithdrawalRow = ReturnType<typeof withdrawalRow>;
export type PreviewRow = ReturnType<typeof previewRow>;

export function withdrawalRow(withdrawal: MadeWithdrawal) {
  const { withdrawalId, at, restoredAt, upTo, clicks: kinds, reason } = withdrawal;
  const counts = { clicks: withdrawnCount(withdrawal), kinds, up_to: upTo };
  return {
    withdrawal_id: withdrawalId,
    at,
    restored_at: restoredAt,
    ...counts,
    ...namedBy(withdrawal),
    reason,
  };
}

/** `clicks`: what goes; `withdrawn_before`: named as well, and out already. */
export function previewRow({ selection, clicks }: WithdrawalPreview) {
  const { matched, counted, kinds, days, samples } = clicks;
  return {
    ...namedBy(selection),
    clicks: counted,
    withdrawn_before: matched - counted,
    kinds,
    days,
    samples: samples.map(({ at, kind, ip, country, visitor, userAgent: user_agent }) => ({
      at,
      kind,
      ip,
      country,
      visitor,
      user_agent,
    })),
  };
}

function namedBy({ from, to, ...named }: WithdrawnSelection) {
  const { visitor, ipPrefix, userAgent } = named;
  return {
    from,
    to,
    visitor: visitor ?? null,
    ip_prefix: ipPrefix ?? null,
    user_agent: userAgent ?? null,
  };
}
