// What an operator asks to withdraw, checked: times, network, visitor code.
import ipaddr from "ipaddr.js";
import type { WithdrawnSelection } from "../../click-log/withdrawals.ts";
import { Refused } from "../../runtime/refused.ts";
import { boundedText } from "../accept-reason.ts";

/** `to`: by default now. `ipPrefix`: a network, or an address for the network that the log knows of it. */
export type WithdrawalRequest = {
  from: Date;
  to?: Date | undefined;
  visitor?: string | undefined;
  ipPrefix?: string | undefined;
  userAgent?: string | undefined;
};

/** What the log keeps of addresses. */
const MOST_BITS = { ipv4: 24, ipv6: 48, "6to4": 40 } as const;
const MOST_CHARACTERS = 512;

/** @throws invalid_withdrawal */
export function selectionOf(request: WithdrawalRequest, now: Date): WithdrawnSelection {
  const { from, to = now, visitor, ipPrefix } = request;
  // Cleaned as those of clicks are, so that it is found in them.
  const userAgent =
    request.userAgent === undefined ? undefined : boundedText(request.userAgent, MOST_CHARACTERS);
  if (from >= to)
    throw new Refused(
      "invalid_withdrawal",
      "The time from which clicks are withdrawn must be before its end",
    );
  if (visitor !== undefined && !/^[0-9a-f]{16}$/.test(visitor))
    throw new Refused("invalid_withdrawal", "A visitor code has 16 hex digits, as exports show it");
  if (userAgent === "")
    throw new Refused(
      "invalid_withdrawal",
      `A part of the user agent has 1 to ${MOST_CHARACTERS} characters`,
    );
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    ...(visitor !== undefined && { visitor }),
    ...(ipPrefix !== undefined && { ipPrefix: networkOf(ipPrefix) }),
    ...(userAgent !== undefined && { userAgent }),
  };
}

/** In CIDR form; whole addresses go no further than this, as the log has none. */
function networkOf(text: string): string {
  const [address = "", bits] = text.trim().split("/");
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address))
    throw new Refused("invalid_withdrawal", "A network is such as 203.0.113.0/24 or 2001:db8::/32");
  const parsed = ipaddr.parse(address);
  const most = MOST_BITS[parsed.range() === "6to4" ? "6to4" : parsed.kind()];
  const length = bits === undefined ? most : Number(bits);
  if (!/^\d{1,3}$/.test(bits ?? "0") || length > most)
    throw new Refused(
      "invalid_withdrawal",
      `Clicks are known by networks of /${most} at most, not by narrower ones`,
    );
  const family = parsed.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address}/${length}`).toString()}/${length}`;
}
