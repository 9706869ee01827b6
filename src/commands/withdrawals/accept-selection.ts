// Which clicks of a link are to be withdrawn, from what the operator asks for: checked, and as clicks say it of themselves.
import ipaddr from "ipaddr.js";
import type { WithdrawnSelection } from "../../events/withdrawals.ts";
import { networkOf } from "../../runtime/addresses/networks.ts";
import { boundedText } from "../accept-text.ts";
import { Refused } from "../refusals.ts";

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
