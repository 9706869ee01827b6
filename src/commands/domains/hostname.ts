// Which hostnames can be a custom domain: registrable names; no IP address, public suffix, or host of this service.
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { parse } from "tldts";
import { Refused } from "../../runtime/refused.ts";

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns the hostname in A-label form (RFC 5890), lower case, without a trailing dot.
 * @throws invalid_hostname
 */
export function acceptHostname(given: string, baseHost: string): string {
  const hostname = domainToASCII(given.trim().replace(/\.$/, "")).toLowerCase();
  const labels = hostname.split(".");
  // domainToASCII ignores what follows a host name in a URL.
  if (/[/\\?#]/.test(given) || hostname.length > 253 || !labels.every((label) => LABEL.test(label)))
    throw invalidHostname("please provide a host name such as go.example.com");
  if (isIP(hostname)) throw invalidHostname("an IP address can't be a custom domain");
  if (labels.length < 2) throw invalidHostname("a host name has at least two parts");
  if (hostname === baseHost || baseHost.endsWith(`.${hostname}`))
    throw invalidHostname(`${hostname} belongs to this service`);
  if (parse(hostname, { allowPrivateDomains: true }).domain === null)
    throw invalidHostname(`${hostname} is a public suffix`);
  return hostname;
}

function invalidHostname(reason: string): Refused {
  return new Refused("invalid_hostname", `Invalid domain: ${reason}`);
}
