// Client address and host behind trusted proxies: the rules of Fastify's `request.ip` and `request.host`, for the
// redirect handler, which runs before Fastify.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { all, compile } from "@fastify/proxy-addr";
import { memoize } from "../../runtime/memoize.ts";

/** Whether forwarding headers from a proxy at this address are trusted. */
export type Trust = (address: string) => boolean;

export type Requester = {
  /** The Host header, or X-Forwarded-Host from a trusted proxy. */
  host(request: IncomingMessage): string;
  /** The client's address: the nearest hop that is not a trusted proxy. */
  address(request: IncomingMessage): string;
};

/** Caches the result of each address, because requests come through the same few proxies. */
export function trustOf(ranges: readonly string[]): false | Trust {
  if (ranges.length === 0) return false;
  const trusted = compile([...ranges]);
  // The remote address of a socket that is already closed is empty.
  return memoize(1_000, (address: string) => isIP(address) !== 0 && trusted(address, 0));
}

const ADDRESS_WITH_PORT =
  /(?<=^|[,\s])(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([\da-f:.]{2,45})\](?::\d{1,5})?)(?=[,\s]|$)/gi;

/**
 * Leaves the addresses of X-Forwarded-For without ports and brackets. Azure's Application Gateway and IIS write
 * `203.0.113.9:50123`: each connection would be a visitor of its own, and have rate limits of its own.
 */
export function dropForwardedPorts(headers: IncomingHttpHeaders): void {
  const forwarded = headers["x-forwarded-for"];
  if (typeof forwarded !== "string" || !forwarded.includes(":")) return;
  headers["x-forwarded-for"] = forwarded.replace(ADDRESS_WITH_PORT, "$1$2");
}

export function requesterOf(trust: false | Trust): Requester {
  if (!trust) {
    return {
      host: ({ headers }) => headers.host ?? "",
      address: ({ socket }) => socket.remoteAddress ?? "",
    };
  }
  return {
    host({ headers, socket }) {
      const forwarded = headers["x-forwarded-host"];
      if (!forwarded || !trust(socket.remoteAddress ?? "")) return headers.host ?? "";
      // Each proxy appends the host it received, so the last entry comes from the trusted proxy.
      return String(forwarded).split(",").at(-1)?.trim() ?? "";
    },
    address: (request) => all(request, trust).at(-1) ?? "",
  };
}
