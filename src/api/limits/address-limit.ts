// Limits by address for who shows no key: an IPv6 caller holds whole networks, so its /64 and its /48 count too.
import ipaddr from "ipaddr.js";
import type { RateLimits, RateWindow } from "./rate-limit.ts";

/** For callers without a valid key; also what an answer without a key's window shows. */
export const REQUESTS_PER_HOUR_BY_ADDRESS = 500;

/**
 * How many times the limit of one /64 all of a /48 has together. A /48 is what one site gets (RFC 6177): 65,536
 * networks that must neither multiply its limit nor fill the memory of windows. Carriers put one handset in each /64.
 */
export const NETWORK_FACTOR = 10;

/** A window with the limit it was asked for. */
export type LimitedWindow = RateWindow & { limit: number };

/** What one caller's windows are named by: the IPv4 address, the IPv6 /64; other text as it is. */
export function addressOf(ip: string): string {
  return networksOf(ip)[0];
}

/**
 * Counts one request of `kind` by address, unless its window or that of its /48 is full. Answers the fuller of both.
 * What a full /64 is refused does not count against the rest of its /48.
 */
export async function takeByAddress(
  limits: RateLimits,
  kind: string,
  ip: string,
  limit: number,
  now: Date,
): Promise<LimitedWindow> {
  const [address, network] = networksOf(ip);
  const take = () => limits.take(`${kind} ${address}`, limit, now);
  if (network === undefined) return { ...(await take()), limit };
  const own = await limits.look(`${kind} ${address}`, limit, now);
  if (!own.granted) return { ...own, limit };
  const shared = await limits.take(`${kind} ${network}`, limit * NETWORK_FACTOR, now);
  if (!shared.granted) return { ...shared, limit: limit * NETWORK_FACTOR };
  return fuller({ ...(await take()), limit }, { ...shared, limit: limit * NETWORK_FACTOR });
}

/** The same, counting nothing. */
export async function lookByAddress(
  limits: RateLimits,
  kind: string,
  ip: string,
  limit: number,
  now: Date,
): Promise<LimitedWindow> {
  const [address, network] = networksOf(ip);
  const own = { ...(await limits.look(`${kind} ${address}`, limit, now)), limit };
  if (network === undefined) return own;
  const networkLimit = limit * NETWORK_FACTOR;
  const shared = await limits.look(`${kind} ${network}`, networkLimit, now);
  return fuller(own, { ...shared, limit: networkLimit });
}

function fuller(own: LimitedWindow, shared: LimitedWindow): LimitedWindow {
  return own.granted && shared.limit - shared.used < own.limit - own.used ? shared : own;
}

function networksOf(ip: string): [address: string, network?: string] {
  const [plain = ""] = ip.split("%");
  if (!plain.includes(":") || !ipaddr.isValid(plain)) return [plain];
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === "ipv4") return [parsed.toString()];
  const groups = (parsed as ipaddr.IPv6).parts.map((part) => part.toString(16));
  return [`${groups.slice(0, 4).join(":")}::/64`, `${groups.slice(0, 3).join(":")}::/48`];
}
