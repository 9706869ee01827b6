// Withdrawals of clicks, and what one would take out, as the command line and the console's API print them.

import type { MatchingClicks } from "../../click-log/matching-clicks.ts";
import { type WithdrawnSelection, withdrawnCount } from "../../click-log/withdrawals.ts";
import type { WithdrawalPreview } from "../../commands/withdrawals/withdraw-clicks.ts";
import type { MadeWithdrawal } from "../../commands/withdrawals/withdrawal.ts";

export function withdrawalRow(made: MadeWithdrawal) {
  const { withdrawalId, at, restoredAt, upTo, clicks: kinds, reason } = made;
  const counts = { clicks: withdrawnCount(made), kinds, up_to: upTo };
  return { withdrawal_id: withdrawalId, at, restored_at: restoredAt, ...counts, ...namedBy(made), reason };
}

export function previewRow({ selection, clicks }: WithdrawalPreview) {
  return { ...namedBy(selection), ...countsOf(clicks) };
}

function namedBy({ from, to, visitor, ipPrefix, userAgent }: WithdrawnSelection) {
  return {
    ...{ from, to, visitor: visitor ?? null },
    ...{ ip_prefix: ipPrefix ?? null, user_agent: userAgent ?? null },
  };
}

/** `clicks`: what goes; `withdrawn_before`: named as well, and out already. */
function countsOf({ matched, counted, kinds, days, samples }: MatchingClicks) {
  return {
    clicks: counted,
    withdrawn_before: matched - counted,
    kinds,
    days,
    samples: samples.map(({ at, kind, ip, country, visitor, userAgent }) => ({
      ...{ at, kind, ip, country, visitor, user_agent: userAgent },
    })),
  };
}
