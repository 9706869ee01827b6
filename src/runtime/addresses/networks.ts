// Networks, and which part of an address is one client: for rate limits, and for rules that keep a visitor for the day.
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

/** The network of a CIDR text, or of one address, as CIDR with the bits after its prefix cleared; undefined for other text. */
export function networkOf(text: string): string | undefined {
  const [address = "", bits, more] = text.split("/");
  // ipaddr.js reads other notations, too, such as octal numbers; IPv4-mapped IPv6 is compared as IPv4.
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  if (!isAddress || address.includes("%") || more !== undefined) return undefined;
  const kind = ipaddr.parse(address);
  if (kind.kind() === "ipv6" && (kind as ipaddr.IPv6).isIPv4MappedAddress()) return undefined;
  const length = kind.kind() === "ipv4" ? 32 : 128;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > length)) return undefined;
  const cidr = `${address}/${bits === undefined ? length : Number(bits)}`;
  const family = kind.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(cidr)}/${cidr.split("/")[1]}`;
}

/** `networks`: CIDR, as `networkOf` gives them. An IPv4-mapped IPv6 address is the IPv4 address. */
export function inNetworks(networks: readonly string[]): (ip: string) => boolean {
  const parsed = networks.map((cidr) => ipaddr.parseCIDR(cidr));
  return (ip) => {
    const [plain = ""] = ip.split("%");
    if (!ipaddr.isValid(plain)) return false;
    const address = ipaddr.process(plain);
    return parsed.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  };
}
