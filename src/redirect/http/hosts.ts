// Which host a request is for: the base host, under any of its names, or a custom domain.
import { isIPv4 } from "node:net";
import { canonicalHost } from "../../runtime/addresses/host-name.ts";
import { memoize } from "../../runtime/memoize.ts";

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

/** localhost and *.localhost (RFC 6761), 127.0.0.0/8, [::1]. */
function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  if (host === "[::1]" || host === "[0:0:0:0:0:0:0:1]") return true;
  return host.startsWith("127.") && isIPv4(host);
}
