// Truncates client addresses to their network before an event exists: no event holds a full address.
import { isIP } from "node:net";

/** First group of 6to4 addresses (RFC 3056): the next two are an IPv4 address. */
const SIX_TO_FOUR = 0x2002;

/**
 * Network of an address: IPv4 /24, IPv6 /48; "" when it is invalid. IPv4-mapped IPv6 is treated as IPv4, and of a 6to4
 * address the /40 is kept, which is the /24 of the IPv4 address in it.
 */
export function anonymiseIp(address: string): string {
  const plain = plainAddress(address);
  const family = isIP(plain);
  if (family === 4) return plain.replace(/\.\d+$/, ".0");
  if (family === 6) return network48(plain);
  return "";
}

/** Strips brackets and zone id and unwraps IPv4-mapped IPv6 (`::ffff:a.b.c.d`); the result is not validated. */
export function plainAddress(address: string): string {
  if (isIP(address) === 4) return address;
  const bare = address
    .trim()
    .replace(/^\[|\]$/g, "")
    .replace(/%.*$/, "");
  const mapped = /^(?:0{0,4}:){2,5}ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(
    bare,
  );
  if (!mapped) return bare;
  if (mapped[1] !== undefined) return mapped[1];
  const bits = (Number.parseInt(mapped[2] ?? "0", 16) << 16) | Number.parseInt(mapped[3] ?? "0", 16);
  return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join(".");
}

function network48(address: string): string {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros =
    tail === undefined ? [] : new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const first = [...before, ...zeros, ...after].slice(0, 3).map((group) => Number.parseInt(group, 16));
  if (first[0] === SIX_TO_FOUR) first[2] = (first[2] ?? 0) & 0xff00;
  while (first.length > 0 && first.at(-1) === 0) first.pop();
  return `${first.map((group) => group.toString(16)).join(":")}::`;
}

/** A dotted IPv4 tail stands for two groups; its value is beyond the /48 and is replaced by zeros. */
function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}
