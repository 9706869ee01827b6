// SSRF protection: which addresses and ports webhooks, whose URLs are user input, may reach.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** `allowPrivate`: the operator's `WEBHOOK_ALLOW_PRIVATE`, for receivers on the same machine or network. */
export type Reach = { allowPrivate: boolean };

type Range = { name: string; cidrs: readonly string[]; private?: true };

/**
 * First match wins. `allowPrivate` admits the `private` ranges. The others are always refused: they hold no receivers,
 * and IPv6 ranges that embed an IPv4 address would bypass the IPv4 ranges.
 */
const REFUSED: readonly Range[] = [
  {
    name: "a cloud metadata service",
    cidrs: [
      "169.254.169.254/32",
      "169.254.170.2/32",
      "100.100.100.200/32",
      "168.63.129.16/32",
      "192.0.0.192/32",
      "fd00:ec2::/32",
      "fd20:ce::254/128",
      "fd00:42::42/128",
    ],
  },
  { name: "loopback", cidrs: ["127.0.0.0/8", "::1/128"], private: true },
  {
    name: "a private network",
    cidrs: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
    private: true,
  },
  { name: "a carrier's shared network", cidrs: ["100.64.0.0/10"], private: true },
  { name: "site-local", cidrs: ["fec0::/10"] },
  { name: "link-local", cidrs: ["169.254.0.0/16", "fe80::/10"] },
  { name: "unspecified", cidrs: ["0.0.0.0/8", "::/128"] },
  { name: "broadcast", cidrs: ["255.255.255.255/32"] },
  { name: "multicast", cidrs: ["224.0.0.0/4", "ff00::/8"] },
  {
    name: "documentation",
    cidrs: ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"],
  },
  { name: "benchmarking", cidrs: ["198.18.0.0/15", "2001:2::/48"] },
  { name: "IPv4-mapped", cidrs: ["::ffff:0:0/96"] },
  { name: "IPv4-compatible", cidrs: ["::/96"] },
  { name: "IPv4-translated", cidrs: ["::ffff:0:0:0/96"] },
  { name: "NAT64", cidrs: ["64:ff9b::/96", "64:ff9b:1::/48"] },
  { name: "6to4", cidrs: ["2002::/16", "192.88.99.0/24"] },
  { name: "Teredo", cidrs: ["2001::/32"] },
  {
    name: "reserved",
    cidrs: [
      "192.0.0.0/24",
      "192.31.196.0/24",
      "192.52.193.0/24",
      "192.175.48.0/24",
      "240.0.0.0/4",
      "100::/64",
      "2001::/23",
      "2620:4f:8000::/48",
    ],
  },
];

const ranges = REFUSED.map((range) => ({
  ...range,
  nets: range.cidrs.map((cidr) => ipaddr.parseCIDR(cidr)),
}));
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/**
 * Why the address is refused, as the end of a sentence such as "10.0.0.1 is ..."; undefined when it is allowed.
 * `address`: as a resolver or URL.parse writes it; other notations (octal, leading zeros) are refused as invalid.
 */
export function addressRefusal(address: string, { allowPrivate }: Reach): string | undefined {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return "not an IP address";
  const parsed = ipaddr.parse(address);
  const kind = parsed.kind();
  for (const range of ranges) {
    if (!range.nets.some(([net, bits]) => net.kind() === kind && parsed.match(net, bits))) continue;
    return range.private && allowPrivate ? undefined : `${range.name} and not reachable for webhooks`;
  }
  if (kind === "ipv6" && (!parsed.match(globalUnicast) || hidesIpv4(parsed as ipaddr.IPv6)))
    return "reserved and not reachable for webhooks";
  return undefined;
}

/** Why the port is refused; undefined when it is allowed. "" is the scheme's default port. */
export function portRefusal(port: string): string | undefined {
  const number = Number(port);
  if (port === "" || number === 80 || number === 443 || (number >= 1024 && number <= 65_535))
    return undefined;
  return `Port ${port} is not allowed for webhooks: use 80, 443 or 1024 to 65535`;
}

/** ISATAP (RFC 5214): an interface identifier 0:5efe or 200:5efe in any network is followed by an IPv4 address. */
function hidesIpv4({ parts }: ipaddr.IPv6): boolean {
  return ((parts[4] ?? 0) & ~0x0200) === 0 && parts[5] === 0x5efe;
}
