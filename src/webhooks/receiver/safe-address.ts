// SSRF protection: which addresses and ports webhooks, whose URLs are user input, may reach.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** `allowPrivate`: the operator's `WEBHOOK_ALLOW_PRIVATE`, for receivers on the same machine or network. */
export type Reach = { allowPrivate: boolean };

/** Ranges of ipaddr.js that `allowPrivate` admits; all other special ranges are always refused. */
const PRIVATE: Readonly<Record<string, string>> = {
  loopback: "loopback",
  private: "a private network",
  uniqueLocal: "a private network",
  carrierGradeNat: "a carrier's shared network",
};

/** What people know ranges as; the others are reserved, or embed an IPv4 address and would bypass its checks. */
const KNOWN: Readonly<Record<string, string>> = {
  unspecified: "unspecified",
  broadcast: "broadcast",
  multicast: "multicast",
  linkLocal: "link-local",
  ipv4Mapped: "IPv4-mapped",
};

/** Metadata services of clouds, refused whatever their range. */
const METADATA = [
  "169.254.169.254/32",
  "169.254.170.2/32",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "fd00:ec2::/32",
  "fd20:ce::254/128",
  "fd00:42::42/128",
].map((cidr) => ipaddr.parseCIDR(cidr));

const globalUnicast = ipaddr.parseCIDR("2000::/3");

/**
 * Why the address is refused, as the end of a sentence such as "10.0.0.1 is ..."; undefined when it is allowed.
 * `address`: as a resolver or URL.parse writes it; other notations (octal, leading zeros) are refused as invalid.
 */
export function addressRefusal(address: string, { allowPrivate }: Reach): string | undefined {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return "not an IP address";
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  const isMetadata = METADATA.some(([net, bits]) => net.kind() === parsed.kind() && parsed.match(net, bits));
  if (isMetadata) return unreachable("a cloud metadata service");
  const nameOfPrivate = PRIVATE[range];
  if (nameOfPrivate) return allowPrivate ? undefined : unreachable(nameOfPrivate);
  const isPublic = range === "unicast" && (parsed.kind() === "ipv4" || isGlobal(parsed as ipaddr.IPv6));
  return isPublic ? undefined : unreachable(KNOWN[range] ?? "reserved");
}

/** Why the port is refused; undefined when it is allowed. "" is the scheme's default port. */
export function portRefusal(port: string): string | undefined {
  const number = Number(port);
  if (port === "" || number === 80 || number === 443 || (number >= 1024 && number <= 65_535))
    return undefined;
  return `Port ${port} is not allowed for webhooks: use 80, 443 or 1024 to 65535`;
}

function unreachable(what: string): string {
  return `${what} and not reachable for webhooks`;
}

/** Not ISATAP (RFC 5214), where an interface identifier 0:5efe or 200:5efe is followed by an IPv4 address. */
function isGlobal(address: ipaddr.IPv6): boolean {
  const { parts } = address;
  const isIsatap = ((parts[4] ?? 0) & ~0x0200) === 0 && parts[5] === 0x5efe;
  return address.match(globalUnicast) && !isIsatap;
}
