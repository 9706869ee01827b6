// Who asks, and for which host, as far as proxies before us are trusted: what Fastify's `ip` and `host` say, without it.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { all, compile } from "@fastify/proxy-addr";
import { LRUCache } from "lru-cache";

/** Whether a proxy of this address may speak for others. */
export type Trust = (address: string) => boolean;

export type Requester = {
  /** Host header, or what a trusted proxy says it was. */
  host(request: IncomingMessage): string;
  /** Of the client, or of the last proxy that isn't trusted. */
  address(request: IncomingMessage): string;
};

/** The same few proxies ask again and again: each address is compared with the ranges once. */
export function trustOf(ranges: readonly string[]): false | Trust {
  if (ranges.length === 0) return false;
  const trusted = compile([...ranges]);
  const known = new LRUCache<string, boolean>({ max: 1_000 });
  return (address) => {
    const said = known.get(address);
    if (said !== undefined) return said;
    // Of a connection that is gone already there is none.
    const isTrusted = isIP(address) !== 0 && trusted(address, 0);
    known.set(address, isTrusted);
    return isTrusted;
  };
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
      // Each proxy adds what it was asked for behind what was there.
      return String(forwarded).split(",").at(-1)?.trim() ?? "";
    },
    address: (request) => all(request, trust).at(-1) ?? "",
  };
}
