// Rate limits by client address for requests without a key. IPv6 is limited by /64 and /48, as callers hold whole
// networks.
import ipaddr from "ipaddr.js";
import type { LimitedWindow, RateLimits } from "./rate-limit.ts";

/** For requests without a valid key; also the limit shown in their headers. */
export const REQUESTS_PER_HOUR_BY_ADDRESS = 500;

/**
 * Limit of a /48 as a multiple of that of a /64. One site may hold a /48 (RFC 6177), that is 65,536 /64 networks, which
 * must neither multiply its limit nor fill the memory of windows. More than 1, because mobile carriers assign each
 * handset its own /64.
 */
export const NETWORK_FACTOR = 10;

/** The part of an address that identifies one client: the IPv4 address or the IPv6 /64; other text unchanged. */
export function addressOf(ip: string): string {
  return networksOf(ip)[0];
}

/**
 * Counts one request of `kind` by address, unless its window or that of its /48 is full; returns the fuller of both.
 * A request that a full /64 refuses does not count against the /48.
 */
export async function takeByAddress(
  limits: RateLimits,
  kind: string,
  ip: string,
  limit: number,
  now: Date,
): Promise<LimitedWindow> {
  const [own, network] = windowsOf(limits, kind, ip, limit, now);
  if (!network) return await own.take();
  const current = await own.look();
  if (!current.granted) return current;
  const shared = await network.take();
  return shared.granted ? fuller(await own.take(), shared) : shared;
}

/** As takeByAddress, without counting. */
export async function lookByAddress(
  limits: RateLimits,
  kind: string,
  ip: string,
  limit: number,
  now: Date,
): Promise<LimitedWindow> {
  const [own, network] = windowsOf(limits, kind, ip, limit, now);
  return network ? fuller(await own.look(), await network.look()) : await own.look();
}

type Windows = Record<"take" | "look", () => Promise<LimitedWindow>>;

function windowsOf(
  limits: RateLimits,
  kind: string,
  ip: string,
  limitOfAddress: number,
  now: Date,
): [own: Windows, network?: Windows] {
  const window = (name: string, limit: number): Windows => ({
    take: async () => ({ ...(await limits.take(`${kind} ${name}`, limit, now)), limit }),
    look: async () => ({ ...(await limits.look(`${kind} ${name}`, limit, now)), limit }),
  });
  const [address, network] = networksOf(ip);
  const own = window(address, limitOfAddress);
  return network === undefined ? [own] : [own, window(network, limitOfAddress * NETWORK_FACTOR)];
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
