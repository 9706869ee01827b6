// Client address, country and host behind trusted proxies: the rules of Fastify's `request.ip` and `request.host`,
// for the redirect handler, which runs before Fastify.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { all, compile } from "@fastify/proxy-addr";
import { COUNTRIES } from "../../events/countries.ts";
import { memoize } from "../../runtime/memoize.ts";

/** Whether forwarding headers from a proxy at this address are trusted. */
export type Trust = (address: string) => boolean;

export type Requester = {
  /** The Host header, or X-Forwarded-Host from a trusted proxy. */
  host(request: IncomingMessage): string;
  /** The client's address: the nearest hop that is not a trusted proxy. */
  address(request: IncomingMessage): string;
  /** ISO 3166-1 alpha-2, by CLIENT_COUNTRY_HEADER from a trusted proxy; "" when there is none. */
  countryOf(request: IncomingMessage): string;
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

/** An address in CLIENT_IP_HEADER, with a port or in brackets as some proxies write it. */
const NODE = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([\da-f:.]{2,45})\])(?::(?:\d{1,5}|_[\w.-]+))?$/i;
/** The `for` of one element of Forwarded (RFC 7239, section 4). */
const FOR = /(?:^|;)\s*for="?([^";\s]*)"?\s*(?=;|$)/gi;

/**
 * Makes X-Forwarded-For what the redirect handler and Fastify take the client's address from if the peer is
 * trusted. With CLIENT_IP_HEADER that is this header alone: a proxy that sets it may pass on an X-Forwarded-For of
 * the client's own.
 */
export function readForwarded(clientIpHeader: string | undefined): (headers: IncomingHttpHeaders) => void {
  if (clientIpHeader === undefined) return dropForwardedPorts;
  const name = clientIpHeader.toLowerCase();
  const addressesIn = name === "forwarded" ? forwardedAddresses : addressIn;
  return (headers) => {
    // Of this machine's own requests nothing was forwarded, and nothing may seem so (operator-request.ts).
    if (headers[name] === undefined && headers["x-forwarded-for"] === undefined) return;
    headers["x-forwarded-for"] = addressesIn(String(headers[name] ?? ""));
  };
}

/**
 * The addresses of Forwarded (RFC 7239) in the form of X-Forwarded-For. Each proxy adds an element at the end, so
 * those before one that names no address come from somebody unknown and are left out. Split at each comma, also of
 * a quoted text, so that nothing that a client sends can hide the element that the proxy adds.
 */
function forwardedAddresses(header: string): string {
  const addresses: string[] = [];
  for (const element of header.split(",").reverse()) {
    const [node, ...others] = [...element.matchAll(FOR)].map(([, text = ""]) => text);
    const address = node === undefined || others.length > 0 ? "" : addressIn(node);
    if (address === "") break;
    addresses.unshift(address);
  }
  return addresses.join(", ");
}

/** "" when it is no address. */
function addressIn(text: string): string {
  const trimmed = text.trim();
  const [, v4, v6] = NODE.exec(trimmed) ?? [];
  const address = v4 ?? v6 ?? trimmed;
  return isIP(address) !== 0 && !address.includes("%") ? address : "";
}

/**
 * Leaves the addresses of X-Forwarded-For without ports and brackets. Azure's Application Gateway and IIS write
 * `203.0.113.9:50123`: each connection would be a visitor of its own, and have rate limits of its own.
 */
function dropForwardedPorts(headers: IncomingHttpHeaders): void {
  const forwarded = headers["x-forwarded-for"];
  if (typeof forwarded !== "string" || !forwarded.includes(":")) return;
  headers["x-forwarded-for"] = forwarded.replace(ADDRESS_WITH_PORT, "$1$2");
}

/** `countryHeader`: CLIENT_COUNTRY_HEADER. */
export function requesterOf(trust: false | Trust, countryHeader?: string): Requester {
  if (!trust) {
    return {
      host: ({ headers }) => headers.host ?? "",
      address: ({ socket }) => socket.remoteAddress ?? "",
      countryOf: () => "",
    };
  }
  const country = countryHeader?.toLowerCase();
  return {
    host({ headers, socket }) {
      const forwarded = headers["x-forwarded-host"];
      if (!forwarded || !trust(socket.remoteAddress ?? "")) return headers.host ?? "";
      // Each proxy appends the host it received, so the last entry comes from the trusted proxy.
      return String(forwarded).split(",").at(-1)?.trim() ?? "";
    },
    address: (request) => all(request, trust).at(-1) ?? "",
    countryOf({ headers, socket }) {
      if (country === undefined || !trust(socket.remoteAddress ?? "")) return "";
      const code = String(headers[country] ?? "")
        .trim()
        .toUpperCase();
      return COUNTRIES.has(code) ? code : "";
    },
  };
}
