// The forms that environment variables have beside plain numbers and words: addresses, lists, connection strings.
import { isIP } from "node:net";
import { z } from "zod";

/** What `TRUST_PROXY` may name besides addresses and CIDRs; each stands for well-known private ranges. */
const PROXY_RANGES = ["loopback", "linklocal", "uniquelocal"];

/** Hosts, ports and options are the driver's to read; what it can't is told at start all the same. */
export function isEventStoreUrl(text: string): boolean {
  return /^esdb(\+discover)?:\/\/\S+$/.test(text);
}

/**
 * Whether reads go to the leader: a follower may lag, so that what follows the log could pass over an event for good.
 * The driver ignores case, `-` and `_` in names and values, and takes the last of several.
 */
export function readsAtLeader(text: string): boolean {
  const flat = (word = "") => word.toLowerCase().replace(/[\s_-]/g, "");
  const given = [...text.matchAll(/[?&]([^=?&]+)=([^&?]*)/g)].filter(
    ([, name]) => flat(name) === "nodepreference",
  );
  return given.every(([, , value]) => flat(value) === "leader");
}

export function isMongodbUrl(text: string): boolean {
  return /^mongodb(\+srv)?:\/\/\S+$/.test(text);
}

export function isRedisUrl(text: string): boolean {
  return /^rediss?:\/\/./.test(text) && URL.canParse(text);
}

export function baseUrl(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!url || !plain || url.pathname !== "/") {
    context.addIssue({ code: "custom", message: "must be an http or https address without path or query" });
    return z.NEVER;
  }
  return url.origin;
}

export function list(accepts: (item: string) => boolean, message: string) {
  return z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    )
    .refine((items) => items.every(accepts), message);
}

export function isProxyRange(item: string): boolean {
  if (PROXY_RANGES.includes(item)) return true;
  const [address = "", bits, ...rest] = item.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined ||
    (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

export function isDnsServer(item: string): boolean {
  if (isIP(item) !== 0) return true;
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(item);
  return match !== null && isIP(match[1] ?? match[2] ?? "") !== 0;
}
