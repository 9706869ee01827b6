// Which clicks of a link are withdrawn: the one predicate for projections, exports and ranges.
import { inNetworks } from "../runtime/addresses/networks.ts";
import type { Position } from "../stores/event-store/port.ts";
import type { EventOf, LinkClicked, StoredEvent } from "./catalogue.ts";

type Withdrawn = EventOf<"ClicksWithdrawn">["data"];

/** Which clicks a withdrawal names: `from` inclusive, `to` exclusive, by the click's `at`. */
export type WithdrawnSelection = Pick<Withdrawn, "from" | "to" | "visitor" | "ipPrefix" | "userAgent">;

/** In force. It covers the clicks up to `upTo`, which were counted for it: a replay finds the same ones. */
export type Withdrawal = WithdrawnSelection & { withdrawalId: string; upTo: Position };

/** What of a click decides whether it is withdrawn; `position`: of its event. */
export type WithdrawableClick = Pick<LinkClicked["data"], "at" | "visitor" | "ip" | "userAgent"> & {
  position: Position;
};

/** The withdrawals in force after one more event of the link's withdrawals stream; others change nothing. */
export function withdrawalsAfter(inForce: readonly Withdrawal[], event: StoredEvent): readonly Withdrawal[] {
  if (event.type === "ClicksRestored")
    return inForce.filter(({ withdrawalId }) => withdrawalId !== event.data.withdrawalId);
  if (event.type !== "ClicksWithdrawn") return inForce;
  const { withdrawalId, from, to, visitor, ipPrefix, userAgent } = event.data;
  // What comes later in the log than the event itself can't be covered, whatever it says.
  let { upTo } = event.data;
  if (upTo > event.position) upTo = event.position;
  return [...inForce, { withdrawalId, upTo, from, to, visitor, ipPrefix, userAgent } as Withdrawal];
}

/** How many clicks a withdrawal takes out, of all kinds. */
export function withdrawnCount({ clicks }: Pick<Withdrawn, "clicks">): number {
  return clicks.click + clicks.preview + clicks.qr_scan;
}

/** Whether at least one of the withdrawals covers a click of the same link. Made once for many clicks. */
export function isWithdrawnBy(withdrawals: readonly Withdrawal[]): (click: WithdrawableClick) => boolean {
  if (withdrawals.length === 0) return () => false;
  const each = withdrawals.map((withdrawal) => ({
    upTo: withdrawal.upTo,
    isSelected: isSelectedBy(withdrawal),
  }));
  return (click) => each.some(({ upTo, isSelected }) => click.position <= upTo && isSelected(click));
}

/** Whether the selection names a click of the link, whenever it was recorded. */
export function isSelectedBy(
  selection: WithdrawnSelection,
): (click: Omit<WithdrawableClick, "position">) => boolean {
  const { from, to, visitor, ipPrefix } = selection;
  const text = selection.userAgent?.toLowerCase();
  const isIn = ipPrefix === undefined ? undefined : inNetwork(ipPrefix);
  return ({ at, visitor: code, ip, userAgent }) =>
    at >= from &&
    at < to &&
    (visitor === undefined || code === visitor) &&
    (text === undefined || (userAgent ?? "").toLowerCase().includes(text)) &&
    (isIn === undefined || (ip !== undefined && isIn(ip)));
}

/** Clicks come from few networks, as the log keeps them. */
function inNetwork(cidr: string): (ip: string) => boolean {
  const isIn = inNetworks([cidr]);
  const answers = new Map<string, boolean>();
  return (ip) => {
    const isMatch = answers.get(ip) ?? isIn(ip);
    answers.set(ip, isMatch);
    return isMatch;
  };
}
