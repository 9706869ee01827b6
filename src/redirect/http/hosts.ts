// Canonicalises the Host header, so that the base host and custom domains compare as plain strings.
import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";
import { memoize } from "../../runtime/memoize.ts";

const HOSTNAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;
const NOT_ASCII = /[^ -~]/;
const NO_HOST = "";

/**
 * Maps a Host header to `baseHost` or a custom hostname (lower-case A-labels, no port, no trailing dot), "" when it
 * is not a valid host. If the base host is a loopback name, every loopback name maps to it.
 */
export function hostResolver(baseHost: string): (header: string) => string {
  const base = canonicalHost(baseHost);
  const anyLoopback = isLoopback(base);
  return memoize(1_000, (header) => {
    const host = canonicalHost(header);
    return host === base || (anyLoopback && isLoopback(host)) ? base : host;
  });
}

/** Host of a Host header or hostname in the canonical form of stream names and documents; "" when it is invalid. */
export function canonicalHost(header: string): string {
  const text = header.trim().toLowerCase();
  const bracketed = /^(\[[0-9a-f:.]{2,45}\])(?::\d*)?$/.exec(text);
  if (bracketed?.[1]) return bracketed[1];
  const name = text.replace(/:\d*$/, "").replace(/\.$/, "");
  if (/^[0-9a-f:]*::[0-9a-f:.]*$/.test(name)) return `[${name}]`;
  const ascii = NOT_ASCII.test(name) && !/[ -,/:-@[-^`{-~]/.test(name) ? domainToASCII(name) : name;
  return HOSTNAME.test(ascii) ? ascii : NO_HOST;
}

/** localhost and *.localhost (RFC 6761), 127.0.0.0/8, [::1]. */
function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  if (host === "[::1]" || host === "[0:0:0:0:0:0:0:1]") return true;
  return host.startsWith("127.") && isIPv4(host);
}
