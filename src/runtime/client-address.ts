// Which part of an address is one client: for rate limits, and for rules that keep a visitor for the day.
import ipaddr from "ipaddr.js";

/**
 * The part of an address that identifies one client: the IPv4 address or the IPv6 /64; other text unchanged. No
 * larger network is limited, as one customer of a provider could use up what others have there.
 */
export function addressOf(ip: string): string {
  const [plain = ""] = ip.split("%");
  if (!plain.includes(":") || !ipaddr.isValid(plain)) return plain;
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const groups = (parsed as ipaddr.IPv6).parts.map((part) => part.toString(16));
  return `${groups.slice(0, 4).join(":")}::/64`;
}
