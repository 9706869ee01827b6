// Withdrawals as tests append them, without the command that decides on them.

import type { EventOf } from "../../../src/events/catalogue.ts";
import type { WithdrawnSelection } from "../../../src/events/withdrawals.ts";
import type { Position } from "../../../src/stores/event-store/port.ts";
import { ACCOUNT, AT } from "../event-store/stored-events.ts";

type Of = { link: string; accountId?: string };

/** The n-th withdrawal of a test. */
export function withdrawalId(n: number): string {
  return `0195f3d2-7c1e-7a10-8b11-${String(n).padStart(12, "0")}`;
}

/** Behind every position. */
const LAST = "~";
const ALWAYS: WithdrawnSelection = {
  from: "2000-01-01T00:00:00.000Z",
  to: "2100-01-01T00:00:00.000Z",
};

/** By default of all clicks that are recorded before it. */
export function clicksWithdrawn(
  of: Of,
  n: number,
  selection: Partial<WithdrawnSelection & { upTo: Position }> = {},
): EventOf<"ClicksWithdrawn"> {
  const data = { ...ofLink(of), ...ALWAYS, upTo: LAST, ...selection, withdrawalId: withdrawalId(n) };
  const clicks = { click: 1, preview: 0, qr_scan: 0 };
  return { type: "ClicksWithdrawn", data: { ...data, reason: "test clicks", clicks } };
}

export function clicksRestored(of: Of, n: number): EventOf<"ClicksRestored"> {
  return { type: "ClicksRestored", data: { ...ofLink(of), withdrawalId: withdrawalId(n) } };
}

function ofLink({ link, accountId = ACCOUNT }: Of) {
  const [host = "", slug = ""] = link.split("/");
  return { host, slug, accountId, at: AT };
}
