// Rate limits by client address for requests without a key. IPv6 is limited by /64, the smallest network of a customer.
import ipaddr from "ipaddr.js";
import type { LimitedWindow, RateLimits } from "./rate-limit.ts";

/** For requests without a valid key; also the limit shown in their headers. */
export const REQUESTS_PER_HOUR_BY_ADDRESS = 500;

/**
 * The part of an address that identifies one client: the IPv4 address or the IPv6 /64; other text unchanged. No larger
 * network is limited, as one customer of a provider could use up what others have there.
 */
export function addressOf(ip: string): string {
  const [plain = ""] = ip.split("%");
  if (!plain.includes(":") || !ipaddr.isValid(plain)) return plain;
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const groups = (parsed as ipaddr.IPv6).parts.map((part) => part.toString(16));
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Counts one request of `kind` by address, unless its window is full. */
export async function takeByAddress(
  limits: RateLimits,
  kind: string,
  ip: string,
  limit: number,
  now: Date,
): Promise<LimitedWindow> {
  return { ...(await limits.take(`${kind} ${addressOf(ip)}`, limit, now)), limit };
}

/** As takeByAddress, without counting. */
export async function lookByAddress(
  limits: RateLimits,
  kind: string,
  ip: string,
  limit: number,
  now: Date,
): Promise<LimitedWindow> {
  return { ...(await limits.look(`${kind} ${addressOf(ip)}`, limit, now)), limit };
}
